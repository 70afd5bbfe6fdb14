//! Small workbooks, written by hand: a zip archive without compression around a few XML files.

/// A zip archive of stored files.
pub(crate) fn zipped(files: &[(&str, String)]) -> Vec<u8> {
    let number = |value: usize, length: usize| {
        let mut bytes = value.to_le_bytes().to_vec();
        bytes.resize(length, 0);
        bytes
    };
    let (mut archive, mut directory) = (vec![], vec![]);
    for (name, text) in files {
        let offset = archive.len();
        let sizes =
            [number(checksum(text.as_bytes()) as usize, 4), number(text.len(), 4), number(text.len(), 4)];
        let facts =
            [number(20, 2), number(0, 8), sizes.concat(), number(name.len(), 2), number(0, 2)].concat();
        archive.extend([b"PK\x03\x04".to_vec(), facts.clone(), name.as_bytes().to_vec()].concat());
        archive.extend(text.as_bytes());
        let rest = [number(0, 10), number(offset, 4), name.as_bytes().to_vec()].concat();
        directory.extend([b"PK\x01\x02".to_vec(), number(20, 2), facts, rest].concat());
    }
    let (n_files, start, length) = (files.len(), archive.len(), directory.len());
    archive.extend(directory);
    let counts = [number(n_files, 2), number(n_files, 2), number(length, 4), number(start, 4)].concat();
    archive.extend([b"PK\x05\x06".to_vec(), number(0, 4), counts, number(0, 2)].concat());
    archive
}

/// The CRC-32 of zip archives.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(
            sum ^ u32::from(*byte),
            |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 },
        )
    };
    !bytes.iter().fold(!0, step)
}

/// A workbook with these sheets; a cell that begins with `d` is the number of a day, one that begins with `#` an error.
pub(crate) fn xlsx(sheets: &[(&str, &[&[&str]])]) -> Vec<u8> {
    let cell = |row: usize, column: usize, text: &str| {
        let place = format!("{}{}", char::from(b'A' + column as u8), row + 1);
        match (text, text.parse::<f64>().is_ok()) {
            ("", _) => String::new(),
            (_, true) => format!("<c r=\"{place}\"><v>{text}</v></c>"),
            (text, _) if text.starts_with('d') && text[1..].parse::<f64>().is_ok() => {
                format!("<c r=\"{place}\" s=\"1\"><v>{}</v></c>", &text[1..])
            }
            (text, _) if text.starts_with('#') => format!("<c r=\"{place}\" t=\"e\"><v>{text}</v></c>"),
            (text, _) => format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{text}</t></is></c>"),
        }
    };
    let sheet = |rows: &[&[&str]]| {
        let row = |(at, cells): (usize, &&[&str])| {
            let cells: String =
                cells.iter().enumerate().map(|(column, text)| cell(at, column, text)).collect();
            format!("<row r=\"{}\">{cells}</row>", at + 1)
        };
        let rows: String = rows.iter().enumerate().map(row).collect();
        format!("<worksheet xmlns=\"{MAIN}\"><sheetData>{rows}</sheetData></worksheet>")
    };
    let entry = |(at, (name, _)): (usize, &(&str, &[&[&str]]))| {
        format!("<sheet name=\"{name}\" sheetId=\"{0}\" r:id=\"rId{0}\"/>", at + 1)
    };
    let relation = |at: usize| {
        format!(
            "<Relationship Id=\"rId{0}\" Type=\"{RELATIONS}/worksheet\" Target=\"worksheets/sheet{0}.xml\"/>",
            at + 1
        )
    };
    let entries: String = sheets.iter().enumerate().map(entry).collect();
    let relations: String = (0..sheets.len()).map(relation).collect();
    let mut files = vec![
        (
            "_rels/.rels".to_owned(),
            format!(
                "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" \
                 Type=\"{RELATIONS}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml".to_owned(),
            format!(
                "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{RELATIONS}\"><sheets>{entries}</sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels".to_owned(),
            format!(
                "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{relations}\
                 </Relationships>"
            ),
        ),
        (
            "xl/styles.xml".to_owned(),
            format!(
                "<styleSheet xmlns=\"{MAIN}\"><cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"22\"/></cellXfs>\
                 </styleSheet>"
            ),
        ),
    ];
    for (at, (_, rows)) in sheets.iter().enumerate() {
        files.push((format!("xl/worksheets/sheet{}.xml", at + 1), sheet(rows)));
    }
    let files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    zipped(&files)
}

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// An OpenDocument file with one sheet; cells are numbers, dates or text.
pub(crate) fn ods(rows: &[&[&str]]) -> Vec<u8> {
    let cell = |text: &&str| match (*text, text.parse::<f64>().is_ok()) {
        ("", _) => "<table:table-cell/>".to_owned(),
        (text, true) => format!("<table:table-cell office:value-type=\"float\" office:value=\"{text}\"/>"),
        (text, _) if text.starts_with("20") => {
            format!("<table:table-cell office:value-type=\"date\" office:date-value=\"{text}\"/>")
        }
        (text, _) => {
            format!(
                "<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>"
            )
        }
    };
    let row = |cells: &&[&str]| {
        format!("<table:table-row>{}</table:table-row>", cells.iter().map(cell).collect::<String>())
    };
    let rows: String = rows.iter().map(row).collect();
    let space = "urn:oasis:names:tc:opendocument:xmlns";
    let content = format!(
        "<office:document-content xmlns:office=\"{space}:office:1.0\" xmlns:table=\"{space}:table:1.0\" \
         xmlns:text=\"{space}:text:1.0\"><office:body><office:spreadsheet><table:table table:name=\"Data\">{rows}\
         </table:table></office:spreadsheet></office:body></office:document-content>"
    );
    let manifest =
        "<manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"/>";
    zipped(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet".to_owned()),
        ("META-INF/manifest.xml", manifest.to_owned()),
        ("content.xml", content),
    ])
}
