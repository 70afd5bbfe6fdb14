//! `completion`: prints shell completion scripts and writes manual pages.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use catena_io::FileName;
use catena_io::write::WriteError;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::arguments::Command;
use crate::error::CliError;
use crate::parameters::write_text;
use crate::scoreboard::print_text;

const EXAMPLES: &str = "\
Examples:
  catena completion bash > ~/.local/share/bash-completion/completions/catena
  catena completion zsh > ~/.zfunc/_catena
  catena completion --man man1/                     manual pages, one per verb";

/// Options of `completion`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Shell.
    #[arg(required_unless_present = "man")]
    shell: Option<Shell>,
    /// Write manual pages to this directory instead.
    #[arg(long, value_name = "DIR", conflicts_with = "shell")]
    man: Option<PathBuf>,
}

/// Prints a completion script, or writes manual pages.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let mut command = Command::command();
    if let Some(folder) = &arguments.man {
        return write_pages(command, folder);
    }
    let mut script = vec![];
    if let Some(shell) = arguments.shell {
        clap_complete::generate(shell, &mut command, "catena", &mut script);
    }
    print_text(&String::from_utf8_lossy(&script))
}

fn write_pages(command: clap::Command, folder: &Path) -> Result<(), CliError> {
    make_folder(folder)?;
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let verbs: Vec<clap::Command> = command.get_subcommands().cloned().collect();
    for command in std::iter::once(command).chain(verbs) {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
        let mut page = vec![];
        clap_mangen::Man::new(command).render(&mut page)?;
        write_text(&folder.join(format!("{name}.1")), String::from_utf8_lossy(&page).trim_end())?;
    }
    Ok(())
}

/// Creates a directory unless it exists.
pub(crate) fn make_folder(folder: &Path) -> Result<(), CliError> {
    let file = FileName::from(folder);
    let error = std::fs::create_dir_all(folder).err();
    let is_file = |error: &Error| matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotADirectory);
    match error {
        None => Ok(()),
        Some(error) if is_file(&error) => Err(WriteError::NotAFolder { file }.into()),
        Some(source) => Err(WriteError::Io { file, source }.into()),
    }
}
