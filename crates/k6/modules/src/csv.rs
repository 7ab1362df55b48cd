//! Records of CSV (RFC 4180), parsed as k6 does: strict about quotes, and each record has as many
//! fields as the first one.

use std::fmt;
use std::sync::Arc;

/// Parses records one after another. Empty lines are not records.
#[derive(Debug)]
pub(crate) struct Records {
    content: Arc<[u8]>,
    at: usize,
    delimiter: u8,
    /// The number of the line that was read last, from 1.
    line: u64,
    /// The number of fields of the first record.
    fields: Option<usize>,
}

/// The error for an invalid record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CsvError {
    /// The line in which it begins.
    pub(crate) start_line: u64,
    pub(crate) line: u64,
    /// The byte in its line, from 1.
    pub(crate) column: usize,
    problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    BareQuote,
    Quote,
    Fields,
    Delimiter,
}

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.problem {
            Problem::BareQuote => "bare \" in non-quoted-field",
            Problem::Quote => "extraneous or missing \" in quoted-field",
            Problem::Fields => {
                return write!(f, "record on line {}: wrong number of fields", self.line);
            }
            Problem::Delimiter => return f.write_str("csv: invalid field or comment delimiter"),
        };
        if self.start_line != self.line {
            write!(f, "record on line {}; ", self.start_line)?;
        }
        let (line, column) = (self.line, self.column);
        write!(f, "parse error on line {line}, column {column}: {what}")
    }
}

/// The rest of a line, without its end.
#[derive(Clone, Copy)]
struct Rest {
    from: usize,
    to: usize,
    /// The beginning of the line.
    start: usize,
    has_end: bool,
}

impl Rest {
    /// Returns the column of the first byte.
    fn column(self) -> usize {
        self.from - self.start + 1
    }

    fn behind(self, bytes: usize) -> Rest {
        Rest {
            from: self.from + bytes,
            ..self
        }
    }
}

impl Records {
    /// Creates a parser that begins at this byte.
    pub(crate) fn new(content: Arc<[u8]>, from: usize, delimiter: u8) -> Self {
        Records {
            content,
            at: from,
            delimiter,
            line: 0,
            fields: None,
        }
    }

    /// Returns the next record; `None` at the end.
    ///
    /// # Errors
    /// If the quotes, or the number of fields, are wrong.
    pub(crate) fn record(&mut self) -> Result<Option<Vec<String>>, CsvError> {
        if matches!(self.delimiter, b'"' | b'\r' | b'\n') {
            return Err(self.error(self.line, 0, Problem::Delimiter));
        }
        let mut line = self.next_line();
        while line.is_some_and(|line| line.from == line.to) {
            line = self.next_line();
        }
        let Some(line) = line else {
            return Ok(None);
        };
        let start_line = self.line;
        let record = self.fields_of(line, start_line)?;
        if *self.fields.get_or_insert(record.len()) != record.len() {
            let error = self.error(start_line, 1, Problem::Fields);
            return Err(CsvError {
                line: start_line,
                ..error
            });
        }
        Ok(Some(record))
    }

    fn fields_of(&mut self, line: Rest, start_line: u64) -> Result<Vec<String>, CsvError> {
        let mut fields = Vec::new();
        let mut rest = Some(line);
        while let Some(line) = rest {
            let field = match self.content.get(line.from) {
                Some(b'"') if line.from < line.to => self.quoted(line.behind(1), start_line)?,
                _ => self.plain(line, start_line)?,
            };
            fields.push(field.0);
            rest = field.1;
        }
        Ok(fields)
    }

    /// Parses a field without quotes, and returns it with the rest after its delimiter.
    fn plain(&self, line: Rest, start_line: u64) -> Result<(String, Option<Rest>), CsvError> {
        let bytes = &self.content[line.from..line.to];
        let end = bytes.iter().position(|byte| *byte == self.delimiter);
        let field = &bytes[..end.unwrap_or(bytes.len())];
        if let Some(quote) = field.iter().position(|byte| *byte == b'"') {
            let column = line.behind(quote).column();
            return Err(self.error(start_line, column, Problem::BareQuote));
        }
        Ok((text(field), end.map(|end| line.behind(end + 1))))
    }

    /// Parses a field after its first quote, and returns it with the rest after its delimiter.
    fn quoted(
        &mut self,
        mut line: Rest,
        start_line: u64,
    ) -> Result<(String, Option<Rest>), CsvError> {
        let mut field = Vec::new();
        loop {
            let bytes = &self.content[line.from..line.to];
            let Some(quote) = bytes.iter().position(|byte| *byte == b'"') else {
                field.extend_from_slice(bytes);
                line = self.line_below(line, start_line)?;
                field.push(b'\n');
                continue;
            };
            field.extend_from_slice(&bytes[..quote]);
            let next = bytes.get(quote + 1).copied();
            match next {
                None => return Ok((text(&field), None)),
                Some(b'"') => field.push(b'"'),
                Some(next) if next == self.delimiter => {
                    return Ok((text(&field), Some(line.behind(quote + 2))));
                }
                Some(_) => {
                    let column = line.behind(quote).column();
                    return Err(self.error(start_line, column, Problem::Quote));
                }
            }
            line = line.behind(quote + 2);
        }
    }

    /// Returns the next line, in which a field continues.
    fn line_below(&mut self, line: Rest, start_line: u64) -> Result<Rest, CsvError> {
        let end = line.behind(line.to - line.from + usize::from(line.has_end));
        self.next_line()
            .ok_or_else(|| self.error(start_line, end.column(), Problem::Quote))
    }

    fn next_line(&mut self) -> Option<Rest> {
        let bytes = self
            .content
            .get(self.at..)
            .filter(|left| !left.is_empty())?;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let line = &bytes[..end.unwrap_or(bytes.len())];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let from = self.at;
        self.at += end.map_or(bytes.len(), |end| end + 1);
        self.line += 1;
        Some(Rest {
            from,
            to: from + line.len(),
            start: from,
            has_end: end.is_some(),
        })
    }

    fn error(&self, start_line: u64, column: usize, problem: Problem) -> CsvError {
        CsvError {
            start_line,
            line: self.line,
            column,
            problem,
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all records, or the error of the first invalid one.
    fn read(text: &str) -> Result<Vec<Vec<String>>, String> {
        let mut records = Records::new(text.as_bytes().into(), 0, b',');
        let mut all = Vec::new();
        while let Some(record) = records.record().map_err(|error| error.to_string())? {
            all.push(record);
        }
        Ok(all)
    }

    #[test]
    fn records_are_those_of_k6() {
        for (text, records) in [
            ("a,b\r\n1,2\r\n\r\n3,4\r", "a,b|1,2|3,4"),
            ("a,b\n\"x\r\ny\",2\n", "a,b|x\ny,2"),
            ("a,b\n\"1\"\"\",2\n", "a,b|1\",2"),
            (" a , b\n1,2\n", " a , b|1,2"),
            ("a,b\n,\n", "a,b|,"),
            ("a\n\"\"\n\n\" \"\n", "a|| "),
            ("a\rb,c\n1,2\n", "a\rb,c|1,2"),
            ("a,b\n1,2\r3\n", "a,b|1,2\r3"),
            ("a,b\n\"1\",\"2\"\n\"\",\"3\"\"4\"\n", "a,b|1,2|,3\"4"),
            ("\"a\",b", "a,b"),
            ("", ""),
        ] {
            let read = read(text).unwrap();
            let lines: Vec<String> = read.iter().map(|record| record.join(",")).collect();
            assert_eq!(lines.join("|"), records, "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let quote = "extraneous or missing \" in quoted-field";
        let bare = "bare \" in non-quoted-field";
        for (text, place, problem) in [
            (
                "\"x\ny\n",
                "record on line 2; parse error on line 3, column 3",
                quote,
            ),
            (
                "\"x\ny\"z,1\n",
                "record on line 2; parse error on line 3, column 2",
                quote,
            ),
            ("\"x\"y,1\n", "parse error on line 2, column 3", quote),
            ("1,2\"\n", "parse error on line 2, column 4", bare),
            ("\"1\" ,2\n", "parse error on line 2, column 3", quote),
            (
                "\"x,\n\n\ny",
                "record on line 2; parse error on line 5, column 2",
                quote,
            ),
            ("ä\"x,2\n", "parse error on line 2, column 3", bare),
            ("\"ä,2", "parse error on line 2, column 6", quote),
            ("1,\"\n", "parse error on line 2, column 5", quote),
            ("1,\"x", "parse error on line 2, column 5", quote),
            (
                "1,\"x\n\n\n\"q",
                "record on line 2; parse error on line 5, column 1",
                quote,
            ),
            (
                "\n\n\"x\ny\",2,3\n",
                "record on line 4",
                "wrong number of fields",
            ),
        ] {
            let said = read(&format!("a,b\n{text}")).unwrap_err();
            assert_eq!(said, format!("{place}: {problem}"), "{text:?}");
        }
    }
}
