//! Why an experiment ends without its result.

use std::path::PathBuf;

use catena::data::DataError;
use catena::graph::GraphError;
use catena::inference::InferenceError;
use catena::model::ModelError;
use catena::structure::StructureError;
use catena::units::UnitError;
use catena_explain::ExplainError;
use catena_fit::fit::FitError;
use catena_io::write::WriteError;
use catena_methods::DenseMethodError;
use catena_methods::bounds::BoundsError;
use catena_studies::study::StudyError;
use thiserror::Error;

/// Where ETTh1 comes from, for whoever does not have it.
const SOURCE: &str = "take ETT-small/ETTh1.csv from the repository zhouhaoyi/ETDataset on GitHub";

/// An experiment that could not be carried out.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// A study of the electricity table without the table.
    #[error("the study {study} needs the table ETTh1: {SOURCE} (sha256 {digest}) and give its path with --ett", digest = crate::ett_file::DIGEST)]
    NoElectricity {
        /// The study.
        study: &'static str,
    },
    /// The electricity table cannot be read.
    #[error("{}: cannot be read ({source}); {SOURCE}", path.display())]
    ElectricityUnread {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The electricity table is another one.
    #[error("{}: is not ETTh1 as the paper used it (sha256 {found}, expected {expected}); {SOURCE}", path.display(), expected = crate::ett_file::DIGEST)]
    ElectricityDiffers {
        /// The file.
        path: PathBuf,
        /// Its digest.
        found: String,
    },
    /// A seed count of zero.
    #[error("--seeds needs at least 1")]
    NoSeeds,
    /// A file of the results cannot be read or made.
    #[error("{}: {source}; give another folder, or free it", path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A kept result is damaged.
    #[error("{}: is not a result of this program ({cause}); remove it and run again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// A method gave a number that is not finite.
    #[error("{cell}, seed {seed}: {name} is not a finite number")]
    NotFinite {
        /// The cell.
        cell: String,
        /// The seed.
        seed: u32,
        /// Which number.
        name: String,
    },
    /// A figure could not be turned into pixels.
    #[error("the figure {name} cannot be drawn ({cause})")]
    Picture {
        /// The figure.
        name: String,
        /// What is wrong.
        cause: String,
    },
    /// A study cannot be set up.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A dense method failed.
    #[error(transparent)]
    Dense(#[from] DenseMethodError),
    /// A bound cannot be evaluated.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
    /// A learned fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The table cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The model does not fit the structure.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A factor graph cannot be drawn.
    #[error(transparent)]
    Drawing(#[from] ExplainError),
    /// A live posterior refused an edit or a question.
    #[error(transparent)]
    Live(#[from] catena::live::LiveError),
    /// The sweep failed.
    #[error(transparent)]
    Inference(#[from] InferenceError),
    /// The model cannot be built.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The structure cannot be built.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// A number has the wrong sign.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl ExperimentError {
    /// Whether numbers failed, rather than files or settings.
    pub fn is_numeric(&self) -> bool {
        match self {
            Self::NoElectricity { .. }
            | Self::ElectricityUnread { .. }
            | Self::ElectricityDiffers { .. }
            | Self::NoSeeds
            | Self::Folder { .. }
            | Self::Damaged { .. }
            | Self::Write(_) => false,
            Self::Study(cause) => {
                !matches!(cause, StudyError::NotANumber { .. } | StudyError::TooShort { .. })
            }
            _ => true,
        }
    }
}
