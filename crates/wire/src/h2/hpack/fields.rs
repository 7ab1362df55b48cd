//! The fields of one header block, in memory that is reused.

/// The fields of a block, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldList {
    text: Vec<u8>,
    fields: Vec<Extent>,
}

/// The extent of a field in the text; it begins at the end of the field before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    name_end: usize,
    value_end: usize,
    /// True if the field was added to the dynamic table.
    is_inserted: bool,
}

impl FieldList {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.fields.clear();
    }

    /// Returns the buffer to which the next field's name, and then its value, are appended.
    pub(super) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Ends a field whose name ends at `name_end` of the text, and whose value ends at the text's
    /// end.
    pub(super) fn end_field(&mut self, name_end: usize, is_inserted: bool) {
        let value_end = self.text.len();
        self.fields.push(Extent {
            name_end,
            value_end,
            is_inserted,
        });
    }

    /// Returns name and value of the last field.
    pub(super) fn last(&self) -> Option<(&[u8], &[u8])> {
        self.all().last().map(|(name, value, _)| (name, value))
    }

    /// Returns the size as RFC 9113, section 6.5.2 counts it: 32 bytes more for each field.
    pub(super) fn size(&self) -> usize {
        self.text.len() + 32 * self.fields.len()
    }

    /// Returns name and value of each field.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&[u8], &[u8])> {
        self.all().map(|(name, value, _)| (name, value))
    }

    /// Returns the fields that were added to the dynamic table.
    pub(super) fn inserted(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.all()
            .filter(|(_, _, is_inserted)| *is_inserted)
            .map(|(name, value, _)| (name, value))
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = (&[u8], &[u8], bool)> {
        self.fields.iter().enumerate().map(|(nth, extent)| {
            let start = nth.checked_sub(1).map_or(0, |n| self.fields[n].value_end);
            let name = &self.text[start..extent.name_end];
            let value = &self.text[extent.name_end..extent.value_end];
            (name, value, extent.is_inserted)
        })
    }
}
