//! Reads Parquet files, one batch of rows at a time.

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::ChunkReader;

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
    let builder =
        ParquetRecordBatchReaderBuilder::try_new(input).map_err(|error| damaged(error.to_string()))?;
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
