use super::*;
use proptest::prelude::*;

/// A reader whose facts are the number of blocks decoded so far.
#[derive(Default)]
struct Counting {
    decoded: usize,
}

impl Counting {
    fn read(&mut self, reader: &mut BlockReader<usize>, block: &[u8]) -> FieldList {
        let decoded = &mut self.decoded;
        let count = |_: &FieldList| {
            *decoded += 1;
            *decoded
        };
        reader.read(block, count).unwrap().0.clone()
    }
}

fn literal(kind: u8, name: &str, value: &str) -> Vec<u8> {
    let mut block = vec![kind, name.len() as u8];
    block.extend_from_slice(name.as_bytes());
    block.push(value.len() as u8);
    block.extend_from_slice(value.as_bytes());
    block
}

#[test]
fn a_block_that_adds_entries_each_time_is_decoded_once() {
    let mut reader = BlockReader::new(4096, 1 << 16);
    let mut counting = Counting::default();
    let block = literal(0x40, "server", "nginx");
    for _ in 0..1000 {
        counting.read(&mut reader, &block);
    }
    assert_eq!(counting.decoded, 1);
    reader.add_pending();
    assert_eq!(reader.decoder.table.entries().len(), 4096 / 43);
}

#[test]
fn a_block_that_names_entries_is_decoded_once_for_each_table() {
    let mut reader = BlockReader::new(4096, 1 << 16);
    let mut counting = Counting::default();
    let (first, newest) = (literal(0x40, "a", "1"), [0xbe]);
    counting.read(&mut reader, &first);
    for _ in 0..10 {
        let fields = counting.read(&mut reader, &newest);
        assert_eq!(fields.last(), Some((&b"a"[..], &b"1"[..])));
    }
    assert_eq!(counting.decoded, 2);
    counting.read(&mut reader, &literal(0x40, "a", "2"));
    let fields = counting.read(&mut reader, &newest);
    assert_eq!(fields.last(), Some((&b"a"[..], &b"2"[..])));
    assert_eq!(counting.decoded, 4);
    counting.read(&mut reader, &first);
    let fields = counting.read(&mut reader, &newest);
    assert_eq!(fields.last(), Some((&b"a"[..], &b"1"[..])));
    assert_eq!(counting.decoded, 5);
}

#[test]
fn long_blocks_are_not_remembered() {
    let mut reader = BlockReader::new(4096, 1 << 16);
    let mut counting = Counting::default();
    let block = literal(0, "a", &"v".repeat(100)).repeat(20);
    counting.read(&mut reader, &block);
    counting.read(&mut reader, &block);
    assert_eq!(counting.decoded, 2);
}

/// Blocks of a few fields, so that many of them repeat.
fn block() -> impl Strategy<Value = Vec<u8>> {
    let field = prop_oneof![
        (0..3_u8, 0..3_u8).prop_map(|(n, v)| literal(
            0x40,
            &"n".repeat(n.into()),
            &"v".repeat(v.into())
        )),
        (0..3_u8).prop_map(|n| literal(0, "plain", &"v".repeat(n.into()))),
        Just(literal(0x40, "long", &"v".repeat(90))),
        (62..66_u8).prop_map(|index| vec![0x80 | index]),
        (62..64_u8).prop_map(|index| vec![0x40 | index, 1, b'x']),
        Just(vec![0x88]),
    ];
    let resize = prop::option::weighted(
        0.05,
        prop::sample::select(vec![vec![0x20], vec![0x3f, 0x61], vec![0x3f, 0xe1, 0x1f]]),
    );
    (resize, prop::collection::vec(field, 1..4))
        .prop_map(|(resize, fields)| [resize.unwrap_or_default(), fields.concat()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Repeats each of a few blocks several times in a row.
    #[test]
    fn known_blocks_say_the_same_as_decoded_ones(
        blocks in prop::collection::vec(block(), 1..12),
        order in prop::collection::vec((any::<prop::sample::Index>(), 1..40_usize), 1..60),
    ) {
        let mut reader = BlockReader::<()>::new(4096, 1 << 16);
        let mut eager = Decoder::new(4096, 1 << 16);
        for (index, times) in order {
            let block = index.get(&blocks);
            for _ in 0..times {
                let mut fields = FieldList::default();
                let decoded = eager.decode(block, &mut fields);
                let read = reader.read(block, |_| ());
                prop_assert_eq!(read.is_ok(), decoded.is_ok());
                if decoded.is_err() {
                    // After an error the table's contents are undefined: the connection ends.
                    return Ok(());
                }
                let (read, _) = read.unwrap();
                let expected: Vec<_> = fields.iter().collect();
                prop_assert_eq!(read.iter().collect::<Vec<_>>(), expected);
            }
        }
        reader.add_pending();
        prop_assert_eq!(reader.decoder.table.entries(), eager.table.entries());
    }
}
