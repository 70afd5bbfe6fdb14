//! Arrow IPC (Feather), read as a file or as a stream and written as a file.

use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader, read_footer_length};
use arrow_ipc::root_as_footer;
use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;

use super::Definition;
use super::from_arrow::TableBuilder;
use super::guard::{guarded, plain};
use super::to_arrow::{batches, schema_of};
use crate::place::FileName;
use crate::read::{Input, Progress, ReadError, ReadOptions, Source, read_all};
use crate::table::Table;
use crate::write::{TargetFile, WriteError};

pub(super) const ARROW: Definition =
    Definition { names: &["arrow", "feather", "ipc"], delimiting: None, read, write: Some(write) };

fn read(source: Source<'_>, progress: Progress<'_>) -> Result<Table, ReadError> {
    let file = source.file;
    let options = source.options;
    guarded(&file.clone(), "Arrow", || match source.input {
        Input::File(opened) => read_batches(file, opened.file, opened.metadata.len(), options, progress),
        Input::Stream(stream) => {
            let bytes = read_all(stream, &file, options)?;
            let total = bytes.len() as u64;
            read_batches(file, Cursor::new(bytes), total, options, progress)
        }
    })
}

fn write(table: &Table, file: &mut TargetFile) -> Result<(), WriteError> {
    let name = file.name().clone();
    let schema = schema_of(table);
    let result = (|| {
        let mut writer = FileWriter::try_new(file, &schema)?;
        for batch in batches(table, &schema) {
            writer.write(&batch?)?;
        }
        writer.finish()
    })();
    result.map_err(|error| match error {
        ArrowError::IoError(_, source) => WriteError::from_io(&name, source),
        other => WriteError::Encoding { file: name, format: "Arrow", detail: other.to_string() },
    })
}

fn read_batches(
    file: FileName,
    input: impl Read + Seek,
    total: u64,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Table, ReadError> {
    if total == 0 {
        return Err(ReadError::Empty { file });
    }
    let mut input = BufReader::new(input);
    let mut magic = [0; 6];
    let failed = |source| ReadError::Io { file: file.clone(), source };
    let n_magic = input.by_ref().take(6).read(&mut magic).map_err(failed)?;
    input.rewind().map_err(failed)?;
    let damaged = |error: ArrowError| damage(&file, &error);
    if &magic[..n_magic] == b"ARROW1" {
        check_blocks(&mut input, total).map_err(damaged)?;
        let reader = FileReader::try_new(input, None).map_err(damaged)?;
        let (schema, n_batches) = (reader.schema(), reader.num_batches() as u64);
        collect(TableBuilder::new(file.clone(), &schema, options)?, reader, &file, &mut |count| {
            progress(total * count / n_batches.max(1), Some(total));
        })
    } else {
        let reader = StreamReader::try_new(input, None).map_err(damaged)?;
        let schema = reader.schema();
        let table = collect(TableBuilder::new(file.clone(), &schema, options)?, reader, &file, &mut |_| {})?;
        progress(total, Some(total));
        Ok(table)
    }
}

/// Rejects a file whose footer lists blocks beyond its end: the library allocates a block before it reads it.
fn check_blocks(input: &mut (impl Read + Seek), total: u64) -> Result<(), ArrowError> {
    let truncated = || ArrowError::ParseError("the file ends too early".to_owned());
    let mut end = [0; 10];
    input.seek(SeekFrom::Start(total.checked_sub(10).ok_or_else(truncated)?))?;
    input.read_exact(&mut end)?;
    let length = read_footer_length(end)?;
    input.seek(SeekFrom::Start((total - 10).checked_sub(length as u64).ok_or_else(truncated)?))?;
    let mut footer = vec![0; length];
    input.read_exact(&mut footer)?;
    let footer =
        root_as_footer(&footer).map_err(|error| ArrowError::ParseError(format!("footer: {error}")))?;
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    for block in blocks {
        let lengths = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
        let end = lengths.iter().try_fold(0_u64, |end, &length| end.checked_add(u64::try_from(length).ok()?));
        if end.is_none_or(|end| end > total) {
            return Err(ArrowError::ParseError("a block ends after the file".to_owned()));
        }
    }
    input.rewind()?;
    Ok(())
}

fn collect(
    mut table: TableBuilder,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    file: &FileName,
    n_done: &mut dyn FnMut(u64),
) -> Result<Table, ReadError> {
    for (count, batch) in batches.enumerate() {
        table.push(&batch.map_err(|error| damage(file, &error))?)?;
        n_done(count as u64 + 1);
    }
    table.finish()
}

fn damage(file: &FileName, error: &ArrowError) -> ReadError {
    ReadError::Damaged { file: file.clone(), format: "Arrow", detail: plain(&error.to_string()) }
}
