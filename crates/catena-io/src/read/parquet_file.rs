//! Reads Parquet files, one batch of rows at a time.

use std::sync::Arc;

use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;

use super::arrow_columns::TableBuilder;
use super::guard::guarded;
use super::{Progress, ReadError};
use crate::place::FileName;
use crate::table::Table;

const ROWS_PER_BATCH: usize = 8192;

pub(crate) fn read_parquet(
    file: FileName,
    input: impl ChunkReader + 'static,
    total: u64,
    progress: Progress<'_>,
) -> Result<Table, ReadError> {
    guarded(&file.clone(), "Parquet", || read_batches(file, input, total, progress))
}

fn read_batches(
    file: FileName,
    input: impl ChunkReader + 'static,
    total: u64,
    progress: Progress<'_>,
) -> Result<Table, ReadError> {
    let damaged = |detail: String| ReadError::Damaged { file: file.clone(), format: "Parquet", detail };
    if total == 0 {
        return Err(ReadError::Empty { file });
    }
    let input = Shared(Arc::new(input));
    let builder = ParquetRecordBatchReaderBuilder::try_new(input.clone())
        .map_err(|error| damaged(error.to_string()))?;
    check_dictionaries(&input, builder.metadata()).map_err(|error| damaged(error.to_string()))?;
    let n_rows = builder.metadata().file_metadata().num_rows().max(1) as f64;
    let mut table = TableBuilder::new(file.clone(), builder.schema())?;
    let reader =
        builder.with_batch_size(ROWS_PER_BATCH).build().map_err(|error| damaged(error.to_string()))?;
    let mut n_read = 0;
    for batch in reader {
        let batch = batch.map_err(|error| damaged(error.to_string()))?;
        table.push(&batch)?;
        n_read += batch.num_rows();
        // Pages are read out of order; the share of rows is what can be told.
        progress((total as f64 * (n_read as f64 / n_rows).min(1.0)) as u64, Some(total));
    }
    table.finish()
}

/// Refuses dictionaries that promise more values than they have bytes: the library takes the memory for them before it reads them.
fn check_dictionaries<R: ChunkReader>(input: &Shared<R>, metadata: &ParquetMetaData) -> ParquetResult<()> {
    for group in metadata.row_groups() {
        for column in group.columns() {
            let reader = Arc::new(input.clone());
            let mut pages = SerializedPageReader::new(reader, column, group.num_rows() as usize, None)?;
            // A dictionary is the first page of its column or none.
            if !pages.peek_next_page()?.is_some_and(|page| page.is_dict) {
                continue;
            }
            if let Some(Page::DictionaryPage { buf, num_values, .. }) = pages.get_next_page()?
                && num_values as usize > buf.len()
            {
                return Err(ParquetError::General("a dictionary is shorter than it says".to_owned()));
            }
        }
    }
    Ok(())
}

/// A file that is looked at before it is read.
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
