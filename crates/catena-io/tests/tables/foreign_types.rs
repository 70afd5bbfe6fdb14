//! Types that other programs write are read as what they mean, and those that mean nothing here are named.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder, StringDictionaryBuilder};
use arrow_array::types::Int16Type;
use arrow_array::*;
use catena_io::read::{ReadError, ReadOptions, read};
use catena_io::select::{SelectError, Selection, select};
use catena_io::table::{ColumnData, Table};
use catena_io::{FileName, Place};
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::metadata::{
    ColumnChunkMetaDataBuilder, ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use crate::folder::Folder;

/// Writes the same batch as Parquet and as Arrow, with the libraries' own writers, and reads both.
fn through_both(columns: Vec<(&str, ArrayRef)>, check: impl Fn(Result<Table, ReadError>, &str)) {
    let folder = Folder::new();
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let path = folder.path("t.parquet");
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    check(read(&path, &ReadOptions::default()), "t.parquet");

    for compression in
        [None, Some(arrow_ipc::CompressionType::LZ4_FRAME), Some(arrow_ipc::CompressionType::ZSTD)]
    {
        let path = folder.path("t.feather");
        let options =
            arrow_ipc::writer::IpcWriteOptions::default().try_with_compression(compression).unwrap();
        let file = File::create(&path).unwrap();
        let mut writer =
            arrow_ipc::writer::FileWriter::try_new_with_options(file, &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        check(read(&path, &ReadOptions::default()), "t.feather");
    }

    let path = folder.path("t.arrow");
    let mut writer =
        arrow_ipc::writer::StreamWriter::try_new(File::create(&path).unwrap(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    check(read(&path, &ReadOptions::default()), "t.arrow");
}

fn shown(table: &Table, name: &str) -> Vec<String> {
    let data = table.column(name).unwrap().data();
    let cell = |row: usize| match data {
        ColumnData::Number(column) if column.values[row].is_nan() => String::new(),
        ColumnData::Number(column) => format!("{:?}", column.values[row]),
        ColumnData::Time(column) => column.print(row),
        ColumnData::Text(column) => column.get(row).unwrap_or_default().to_owned(),
        ColumnData::Bool(column) => column.get(row).map_or(String::new(), |value| value.to_string()),
        _ => panic!("{data:?}"),
    };
    (0..table.n_rows()).map(cell).collect()
}

#[test]
fn every_supported_type_means_what_it_says() {
    let mut labels = StringDictionaryBuilder::<Int16Type>::new();
    labels.append_value("x");
    labels.append_null();
    let decimals = Decimal128Array::from(vec![Some(12345), None]).with_precision_and_scale(20, 2).unwrap();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("i8", Arc::new(Int8Array::from(vec![Some(-7), None]))),
        ("u64", Arc::new(UInt64Array::from(vec![Some(7), None]))),
        ("id", Arc::new(Int64Array::from(vec![Some(5), Some(9_007_199_254_740_993)]))),
        ("f32", Arc::new(Float32Array::from(vec![Some(0.1), None]))),
        ("f64", Arc::new(Float64Array::from(vec![Some(0.1), Some(f64::NAN)]))),
        ("decimal", Arc::new(decimals)),
        ("yes", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        ("text", Arc::new(StringArray::from(vec![Some("a"), None]))),
        ("large", Arc::new(LargeStringArray::from(vec![Some("b"), None]))),
        ("view", Arc::new(StringViewArray::from(vec![Some("c"), None]))),
        ("label", Arc::new(labels.finish())),
        ("day", Arc::new(Date32Array::from(vec![Some(-1), None]))),
        ("ms", Arc::new(TimestampMillisecondArray::from(vec![Some(1_500), None]))),
        ("ns", Arc::new(TimestampNanosecondArray::from(vec![Some(1), None]).with_timezone("UTC"))),
        (
            "zone",
            Arc::new(TimestampMicrosecondArray::from(vec![Some(0), None]).with_timezone("America/New_York")),
        ),
        ("offset", Arc::new(TimestampMicrosecondArray::from(vec![Some(0), None]).with_timezone("-02:30"))),
    ];
    let expected = [
        ("i8", ["-7.0", ""]),
        ("u64", ["7.0", ""]),
        // Beyond 2^53 an integer stays exact as text.
        ("id", ["5", "9007199254740993"]),
        ("f32", ["0.10000000149011612", ""]),
        ("f64", ["0.1", ""]),
        ("decimal", ["123.45", ""]),
        ("yes", ["true", ""]),
        ("text", ["a", ""]),
        ("large", ["b", ""]),
        ("view", ["c", ""]),
        ("label", ["x", ""]),
        ("day", ["1969-12-31", ""]),
        ("ms", ["1970-01-01T00:00:01.5", ""]),
        ("ns", ["1970-01-01T00:00:00.000000001Z", ""]),
        ("zone", ["1969-12-31T19:00:00-05:00[America/New_York]", ""]),
        ("offset", ["1969-12-31T21:30:00-02:30", ""]),
    ];
    through_both(columns, |table, file| {
        let table = table.unwrap();
        for (name, cells) in expected {
            assert_eq!(shown(&table, name), cells, "{file}, {name}");
        }
    });
}

#[test]
fn a_type_without_meaning_is_named_with_its_column() {
    let mut lists = ListBuilder::new(Float64Builder::new());
    lists.append(true);
    let lists: ArrayRef = Arc::new(lists.finish());
    let binary: ArrayRef = Arc::new(BinaryArray::from(vec![&b"x"[..]]));
    let unknown: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![0]).with_timezone("Nowhere/Town"));
    for (array, word) in [(lists, "List"), (binary, "Binary"), (unknown, "Nowhere/Town")] {
        let number: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
        let other = Arc::clone(&number);
        through_both(vec![("t", number), ("odd one", array), ("a", other)], |table, file| {
            let table = table.unwrap();
            for outputs in [None, Some(vec!["odd one".to_owned()])] {
                let error = select(&table, &Selection { outputs, ..Selection::default() }).unwrap_err();
                assert!(
                    matches!(&error, SelectError::UnsupportedType { column, .. } if column == "odd one"),
                    "{error:?}"
                );
                let message = error.to_string();
                assert!(message.contains(word) && message.contains(file), "{message}");
            }
            // Left out by name, it is no obstacle.
            let named = Selection { outputs: Some(vec!["a".to_owned()]), ..Selection::default() };
            let frame = select(&table, &named).unwrap();
            assert_eq!(frame.values, [1.0]);
            let sentences = frame.decision.sentences();
            assert!(sentences.iter().any(|line| line.contains("odd one (of a type")), "{sentences:?}");
        });
    }
}

#[test]
fn integers_beyond_doubles_are_refused_by_row() {
    let time: ArrayRef =
        Arc::new(Int64Array::from(vec![1_700_000_000_000_000_001, 1_700_000_000_000_000_101]));
    let value: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
    let decimal =
        Decimal128Array::from(vec![5, i128::from(i64::MAX)]).with_precision_and_scale(20, 0).unwrap();
    for (column, array, row) in [("t", time, 1), ("t", Arc::new(decimal) as ArrayRef, 2)] {
        through_both(vec![(column, array), ("a", Arc::clone(&value))], |table, _| {
            let error = select(&table.unwrap(), &Selection::default()).unwrap_err();
            let message = error.to_string();
            assert!(message.contains(&format!("row {row}, column t")), "{message}");
            assert!(message.contains("beyond 2^53") && message.contains("subtract an origin"), "{message}");
        });
    }
}

#[test]
fn a_time_out_of_range_is_named_by_its_row() {
    let time: ArrayRef = Arc::new(TimestampSecondArray::from(vec![0, i64::MAX]));
    let value: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
    through_both(vec![("t", time), ("a", value)], |table, _| {
        let message = select(&table.unwrap(), &Selection::default()).unwrap_err().to_string();
        assert!(message.contains("row 2, column t") && message.contains("out of range"), "{message}");
    });
}

fn written(folder: &Folder, batch: &RecordBatch, properties: WriterProperties) -> PathBuf {
    let path = folder.path("t.parquet");
    let file = File::create(&path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    path
}

#[test]
fn usual_compressions_are_read() {
    let folder = Folder::new();
    let values: ArrayRef = Arc::new(Float64Array::from_iter_values((0..500).map(f64::from)));
    let batch = RecordBatch::try_from_iter(vec![("t", Arc::clone(&values)), ("a", values)]).unwrap();
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        let properties = WriterProperties::builder().set_compression(compression).build();
        let path = written(&folder, &batch, properties);
        let table = read(&path, &ReadOptions::default());
        assert_eq!(
            table.map(|table| table.n_rows()).map_err(|error| error.to_string()),
            Ok(500),
            "{compression}"
        );
    }
}

/// A file of one uncompressed page: its pages and its metadata.
fn one_page(folder: &Folder) -> (Vec<u8>, ParquetMetaData) {
    let values: ArrayRef = Arc::new(Float64Array::from_iter_values((0..100).map(f64::from)));
    let batch = RecordBatch::try_from_iter(vec![("a", values)]).unwrap();
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true);
    let path = written(folder, &batch, properties.build());
    let mut bytes = std::fs::read(&path).unwrap();
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&File::open(&path).unwrap()).unwrap();
    let (start, length) = metadata.row_group(0).column(0).byte_range();
    bytes.truncate((start + length) as usize);
    (bytes, metadata)
}

/// Writes pages with a changed description of their column.
fn with_column(
    folder: &Folder,
    (mut bytes, metadata): (Vec<u8>, ParquetMetaData),
    change: impl FnOnce(ColumnChunkMetaDataBuilder) -> ColumnChunkMetaDataBuilder,
) -> PathBuf {
    let group = metadata.row_group(0).clone();
    let column = change(group.column(0).clone().into_builder()).build().unwrap();
    let group = group.into_builder().set_column_metadata(vec![column]).build().unwrap();
    let metadata = ParquetMetaData::new(metadata.file_metadata().clone(), vec![group]);
    ParquetMetaDataWriter::new(&mut bytes, &metadata).finish().unwrap();
    let path = folder.path("t.parquet");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn other_compressions_are_named_with_the_way_out() {
    let folder = Folder::new();
    let brotli = Compression::BROTLI(BrotliLevel::default());
    for (compression, name) in [(brotli, "brotli"), (Compression::LZO, "LZO")] {
        let path = with_column(&folder, one_page(&folder), |column| column.set_compression(compression));
        let error = read(&path, &ReadOptions::default()).unwrap_err();
        assert!(matches!(&error, ReadError::Codec { codec, .. } if codec == name), "{error:?}");
        let message = error.to_string();
        for part in ["t.parquet", &format!("compressed with {name}"), "write it again with zstd"] {
            assert!(message.contains(part), "{message}");
        }
    }
}

/// CRC-32 as in gzip.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

/// A signed integer of Thrift's compact protocol: zigzag, seven bits per byte.
fn thrift_integer(value: i32) -> Vec<u8> {
    let mut rest = ((value << 1) ^ (value >> 31)) as u32;
    let mut bytes = vec![];
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

/// The library writes no checksums, other programs do: the optional fourth field of a page header.
#[test]
fn a_page_that_misses_its_checksum_is_refused() {
    const PAGE: usize = 800;
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    let folder = Folder::new();
    let (bytes, metadata) = one_page(&folder);
    let at = bytes.len() - PAGE;
    // The page has no null, so nothing but the values follows the header, whose first three fields are integers.
    assert_eq!(bytes[at + 8..at + 16], 1_f64.to_le_bytes());
    let mut end = 4;
    for _ in 0..3 {
        assert_eq!(bytes[end], 0x15);
        end += 2 + bytes[end + 1..].iter().take_while(|byte| **byte >= 0x80).count();
    }
    assert_eq!(bytes[end], 0x2c);
    let checksum = [vec![0x15], thrift_integer(crc32(&bytes[at..]) as i32)].concat();
    let grown = checksum.len();
    let signed = [&bytes[..end], &checksum, &[0x1c], &bytes[end + 1..]].concat();
    let read_back = |pages: Vec<u8>| {
        let path = with_column(&folder, (pages, metadata.clone()), |column| {
            column.set_total_compressed_size((at + grown - 4 + PAGE) as i64)
        });
        read(&path, &ReadOptions::default())
    };
    assert_eq!(read_back(signed.clone()).unwrap().n_rows(), 100);
    let mut damaged = signed;
    damaged[at + grown + 8] ^= 1;
    let message = read_back(damaged).unwrap_err().to_string();
    for part in ["t.parquet", "checksum mismatch", "write it again"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn more_rows_than_memory_are_refused_before_they_are_read() {
    let folder = Folder::new();
    let values: ArrayRef = Arc::new(Float64Array::from(vec![1.0; 200_000]));
    let batch = RecordBatch::try_from_iter(vec![("t", Arc::clone(&values)), ("a", values)]).unwrap();
    let path = written(&folder, &batch, WriterProperties::builder().build());
    assert!(path.metadata().unwrap().len() < 100_000);
    let limited = ReadOptions { max_memory: Some(1_000_000), ..ReadOptions::default() };
    let message = read(&path, &limited).unwrap_err().to_string();
    for part in ["t.parquet", "3.2 MB", "1.0 MB", "--max-memory"] {
        assert!(message.contains(part), "{message}");
    }
    // A column of nulls has any number of rows in a few bytes.
    let path = folder.path("t.arrow");
    let nulls: ArrayRef = Arc::new(NullArray::new(1 << 31));
    let more: ArrayRef = Arc::new(NullArray::new(1 << 31));
    let batch =
        RecordBatch::try_from_iter_with_nullable(vec![("t", nulls, true), ("a", more, true)]).unwrap();
    let mut writer =
        arrow_ipc::writer::StreamWriter::try_new(File::create(&path).unwrap(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let limited = ReadOptions { max_memory: Some(1_000_000_000), ..ReadOptions::default() };
    let message = read(&path, &limited).unwrap_err().to_string();
    assert!(message.contains("34.4 GB"), "{message}");
}

#[test]
fn an_infinite_number_is_named_by_its_row() {
    let time: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]));
    let value: ArrayRef = Arc::new(Float64Array::from(vec![1.0, f64::NEG_INFINITY, f64::INFINITY]));
    through_both(vec![("t", time), ("a", value)], |table, file| {
        let error = select(&table.unwrap(), &Selection::default()).unwrap_err();
        let SelectError::InvalidCell { file: FileName::Path(path), place, column, count, .. } = &error else {
            panic!("{error:?}")
        };
        assert!(path.ends_with(file));
        assert_eq!((*place, column.as_str(), *count), (Place::Row(2), "a", 2));
    });
}

#[test]
fn a_binary_table_without_rows_or_with_bad_names_is_refused() {
    let empty: ArrayRef = Arc::new(Float64Array::from(Vec::<f64>::new()));
    through_both(vec![("t", empty)], |table, _| assert!(matches!(table, Err(ReadError::NoRows { .. }))));
    let one: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    through_both(vec![("t", Arc::clone(&one)), ("", one)], |table, _| {
        assert!(matches!(table, Err(ReadError::EmptyName { position: 2, .. })));
    });
}

/// Seconds after a near origin keep what seconds since 1970 would lose.
#[test]
fn fast_recordings_keep_their_steps() {
    let begin = 1_700_000_000_000_000_000_i64;
    let ticks: Vec<i64> = (0..100).map(|row| begin + 100 * row).collect();
    let time: ArrayRef = Arc::new(TimestampNanosecondArray::from(ticks));
    let value: ArrayRef = Arc::new(Float64Array::from_iter_values((0..100).map(f64::from)));
    through_both(vec![("t", time), ("a", value)], |table, _| {
        let table = table.unwrap();
        let frame = select(&table, &Selection::default()).unwrap();
        let input = &frame.inputs[0];
        for (row, number) in input.values.iter().enumerate() {
            assert_eq!(*number, 100.0 * row as f64 / 1e9);
        }
        assert_eq!(input.column_of(&input.values).data(), table.column("t").unwrap().data());
        // The axis travels through a model file's header, and another table read with it has the same origin.
        let axis = input.time.clone().unwrap();
        let read_back = serde_json::from_value(serde_json::to_value(&axis).unwrap()).ok();
        assert_eq!(read_back.as_ref(), Some(&axis));
    });
}
