//! Parquet files, read and written in batches of rows.

use std::sync::Arc;

use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;

use super::Definition;
use super::from_arrow::TableBuilder;
use super::guard::{guarded, plain};
use super::to_arrow::{batches, schema_of};
use crate::place::FileName;
use crate::read::{Input, Progress, ReadError, ReadOptions, Source, read_all};
use crate::table::Table;
use crate::write::{TargetFile, WriteError};

pub(super) const PARQUET: Definition =
    Definition { names: &["parquet", "pq"], delimiting: None, read, write: Some(write) };

const ROWS_PER_BATCH: usize = 8192;

fn read(source: Source<'_>, progress: Progress<'_>) -> Result<Table, ReadError> {
    let file = source.file;
    let options = source.options;
    guarded(&file.clone(), "Parquet", || match source.input {
        Input::File(opened) => read_batches(file, opened.file, opened.metadata.len(), options, progress),
        Input::Stream(stream) => {
            let bytes = read_all(stream, &file, options)?;
            let total = bytes.len() as u64;
            read_batches(file, Bytes::from(bytes), total, options, progress)
        }
    })
}

fn write(table: &Table, file: &mut TargetFile) -> Result<(), WriteError> {
    let name = file.name().clone();
    let schema = schema_of(table);
    // Every reader supports Snappy.
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let result = (|| {
        let mut writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))?;
        for batch in batches(table, &schema) {
            writer.write(&batch?)?;
        }
        writer.close()
    })();
    result.map(|_| ()).map_err(|error| match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => WriteError::from_io(&name, *source),
            Err(source) => WriteError::Encoding { file: name, format: "Parquet", detail: source.to_string() },
        },
        other => WriteError::Encoding { file: name, format: "Parquet", detail: other.to_string() },
    })
}

fn read_batches(
    file: FileName,
    input: impl ChunkReader + 'static,
    total: u64,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Table, ReadError> {
    let damaged = |error: ParquetError| {
        let detail = plain(&error.to_string());
        ReadError::Damaged { file: file.clone(), format: "Parquet", detail }
    };
    if total == 0 {
        return Err(ReadError::Empty { file });
    }
    let input = Shared(Arc::new(input));
    let builder = ParquetRecordBatchReaderBuilder::try_new(input.clone()).map_err(damaged)?;
    let mut table = TableBuilder::new(file.clone(), builder.schema(), options)?;
    let n_rows = builder.metadata().file_metadata().num_rows();
    table.expect_rows(usize::try_from(n_rows).unwrap_or(0))?;
    check_codecs(&file, builder.metadata())?;
    check_dictionaries(&input, builder.metadata()).map_err(damaged)?;
    let n_rows = n_rows.max(1) as f64;
    let reader = builder.with_batch_size(ROWS_PER_BATCH).build().map_err(damaged)?;
    let mut n_read = 0;
    for batch in reader {
        let batch = batch.map_err(|error| damaged(ParquetError::ArrowError(error.to_string())))?;
        table.push(&batch)?;
        n_read += batch.num_rows();
        // Pages are read out of order, so progress is the share of rows.
        progress((total as f64 * (n_read as f64 / n_rows).min(1.0)) as u64, Some(total));
    }
    table.finish()
}

/// Rejects a compression that is not supported.
fn check_codecs(file: &FileName, metadata: &ParquetMetaData) -> Result<(), ReadError> {
    let columns = metadata.row_groups().iter().flat_map(|group| group.columns());
    for column in columns {
        let codec = match column.compression() {
            Compression::BROTLI(_) => "brotli",
            Compression::LZO => "LZO",
            _ => continue,
        };
        return Err(ReadError::Codec { file: file.clone(), codec: codec.to_owned() });
    }
    Ok(())
}

/// Rejects dictionaries that claim more values than they have bytes: the library allocates their memory before it reads them.
fn check_dictionaries<R: ChunkReader>(input: &Shared<R>, metadata: &ParquetMetaData) -> ParquetResult<()> {
    for group in metadata.row_groups() {
        for column in group.columns() {
            let reader = Arc::new(input.clone());
            let mut pages = SerializedPageReader::new(reader, column, group.num_rows() as usize, None)?;
            // Only the first page of a column can be a dictionary.
            if !pages.peek_next_page()?.is_some_and(|page| page.is_dict) {
                continue;
            }
            if let Some(Page::DictionaryPage { buf, num_values, .. }) = pages.get_next_page()?
                && num_values as usize > buf.len()
            {
                return Err(ParquetError::General("a dictionary is shorter than declared".to_owned()));
            }
        }
    }
    Ok(())
}

/// A file shared by the dictionary check and the reader.
struct Shared<R>(Arc<R>);

impl<R> Clone for Shared<R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<R: Length> Length for Shared<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Shared<R> {
    type T = R::T;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        self.0.get_bytes(start, length)
    }
}
