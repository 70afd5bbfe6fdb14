//! Archives of one file: gzip and zstd, recognized by their first bytes when read and by the suffix when written.

use std::fs::File;
use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
}

/// Suffix, first bytes and packing.
const PACKINGS: [(&str, &[u8], Packing); 3] = [
    ("gz", b"\x1f\x8b", Packing::Gzip),
    ("zst", b"\x28\xb5\x2f\xfd", Packing::Zstd),
    ("zstd", b"\x28\xb5\x2f\xfd", Packing::Zstd),
];

/// The longest of the first bytes.
const MAGIC: usize = 4;

impl Packing {
    /// The packing of the last suffix of a path.
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        let suffix = path.extension()?.to_str()?;
        let known = PACKINGS.iter().find(|(known, ..)| suffix.eq_ignore_ascii_case(known));
        known.map(|(_, _, packing)| *packing)
    }

    /// The packing of a file that begins with these bytes.
    pub(crate) fn of_head(head: &[u8]) -> Option<Self> {
        PACKINGS.iter().find(|(_, magic, _)| head.starts_with(magic)).map(|(_, _, packing)| *packing)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// A path without the suffix of an archive.
pub(crate) fn without_packing(path: &Path) -> PathBuf {
    if Packing::of_path(path).is_some() { path.with_extension("") } else { path.to_owned() }
}

/// The packing of an opened file, whose position stays at its beginning.
pub(crate) fn packing_of(file: &mut File) -> io::Result<Option<Packing>> {
    use std::io::Seek;
    let head = head_of(file)?;
    file.rewind()?;
    Ok(Packing::of_head(&head))
}

fn head_of(input: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = vec![];
    input.take(MAGIC as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// The content of a stream, unpacked if it is an archive.
pub(crate) fn unpacked_stream<'a>(mut input: Box<dyn Read + 'a>) -> io::Result<Box<dyn Read + 'a>> {
    let head = head_of(&mut input)?;
    let packing = Packing::of_head(&head);
    unpacked(Box::new(Cursor::new(head).chain(input)), packing)
}

/// The content of an archive, or the input itself if it is not an archive.
pub(crate) fn unpacked<'a>(
    input: Box<dyn Read + 'a>,
    packing: Option<Packing>,
) -> io::Result<Box<dyn Read + 'a>> {
    let Some(packing) = packing else { return Ok(input) };
    let content: Box<dyn Read + 'a> = match packing {
        Packing::Gzip => Box::new(MultiGzDecoder::new(input)),
        Packing::Zstd => Box::new(zstd::Decoder::new(input)?),
    };
    Ok(Box::new(Unpacked { content, packing }))
}

/// Reads an archive; damage is reported as such.
struct Unpacked<'a> {
    content: Box<dyn Read + 'a>,
    packing: Packing,
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.content.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            kind => {
                let name = self.packing.name();
                io::Error::new(
                    kind,
                    format!("the {name} archive is damaged or incomplete: {error}; pack it again"),
                )
            }
        })
    }
}

/// Packs bytes into a buffer.
pub(crate) enum Packer {
    Gzip(GzEncoder<Vec<u8>>),
    Zstd(zstd::Encoder<'static, Vec<u8>>),
}

impl Packer {
    pub(crate) fn new(packing: Packing) -> io::Result<Self> {
        Ok(match packing {
            Packing::Gzip => Self::Gzip(GzEncoder::new(vec![], flate2::Compression::default())),
            Packing::Zstd => Self::Zstd(zstd::Encoder::new(vec![], zstd::DEFAULT_COMPRESSION_LEVEL)?),
        })
    }

    /// Packs bytes and returns what is ready to be written.
    pub(crate) fn pack(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let ready = match self {
            Self::Gzip(encoder) => {
                encoder.write_all(bytes)?;
                encoder.get_mut()
            }
            Self::Zstd(encoder) => {
                encoder.write_all(bytes)?;
                encoder.get_mut()
            }
        };
        Ok(std::mem::take(ready))
    }

    /// The end of the archive.
    pub(crate) fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(encoder) => encoder.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_bytes_unpack_to_themselves() {
        let text: Vec<u8> = (0..100_000_u32).flat_map(|number| number.to_string().into_bytes()).collect();
        for packing in [Packing::Gzip, Packing::Zstd] {
            let mut packer = Packer::new(packing).unwrap();
            let mut packed = vec![];
            for piece in text.chunks(777) {
                packed.extend(packer.pack(piece).unwrap());
            }
            packed.extend(packer.finish().unwrap());
            assert!(packed.len() < text.len() && Packing::of_head(&packed) == Some(packing));
            // Two archives one after the other are one text.
            let twice = packed.repeat(2);
            let mut read = vec![];
            unpacked_stream(Box::new(&twice[..])).unwrap().read_to_end(&mut read).unwrap();
            assert_eq!(read, text.repeat(2));
            let cut = &packed[..packed.len() / 2];
            let error = unpacked_stream(Box::new(cut)).unwrap().read_to_end(&mut read).unwrap_err();
            assert!(error.to_string().contains("damaged or incomplete"), "{error}");
        }
    }

    #[test]
    fn suffixes_are_known() {
        for (path, packing, rest) in [
            ("a.csv.gz", Some(Packing::Gzip), "a.csv"),
            ("a.parquet.ZST", Some(Packing::Zstd), "a.parquet"),
            ("a.csv", None, "a.csv"),
            ("gz", None, "gz"),
        ] {
            assert_eq!(Packing::of_path(Path::new(path)), packing);
            assert_eq!(without_packing(Path::new(path)), Path::new(rest));
        }
    }
}
