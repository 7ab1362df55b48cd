use super::*;

fn bytes(hex: &str) -> Vec<u8> {
    let hex: String = hex.split_whitespace().collect();
    let pair = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(pair).collect()
}

fn text(fields: &FieldList) -> Vec<(String, String)> {
    let owned = |text: &[u8]| String::from_utf8(text.to_vec()).unwrap();
    fields
        .iter()
        .map(|(name, value)| (owned(name), owned(value)))
        .collect()
}

/// A block of a connection: its bytes, the table's size after it, and its fields.
type Example = (&'static str, usize, &'static str);

fn decode_example(allowed: usize, blocks: &[Example]) {
    let mut decoder = Decoder::new(4096, 1 << 16);
    decoder.table.resize(allowed);
    for (block, size, expected) in blocks {
        let mut fields = FieldList::default();
        decoder.decode(&bytes(block), &mut fields).unwrap();
        let lines = text(&fields)
            .into_iter()
            .map(|(name, value)| format!("{name}: {value}"));
        let expected: Vec<&str> = expected.split('\n').map(str::trim).collect();
        assert_eq!(lines.collect::<Vec<_>>(), expected);
        assert_eq!(decoder.table.size(), *size);
    }
}

/// The examples of RFC 7541, appendix C.2.
#[test]
fn each_representation_is_decoded() {
    let block = "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572";
    decode_example(4096, &[(block, 55, "custom-key: custom-header")]);
    let block = "040c 2f73 616d 706c 652f 7061 7468";
    decode_example(4096, &[(block, 0, ":path: /sample/path")]);
    let block = "1008 7061 7373 776f 7264 0673 6563 7265 74";
    decode_example(4096, &[(block, 0, "password: secret")]);
    decode_example(4096, &[("82", 0, ":method: GET")]);
}

const FIRST: &str = ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com";
const SECOND: &str = ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n\
     cache-control: no-cache";
const THIRD: &str = ":method: GET\n:scheme: https\n:path: /index.html\n\
     :authority: www.example.com\ncustom-key: custom-value";

/// The example of RFC 7541, appendix C.3.
#[test]
fn requests_without_huffman_code_are_decoded() {
    decode_example(
        4096,
        &[
            (
                "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
                57,
                FIRST,
            ),
            ("8286 84be 5808 6e6f 2d63 6163 6865", 110, SECOND),
            (
                "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
                164,
                THIRD,
            ),
        ],
    );
}

/// The example of RFC 7541, appendix C.4.
#[test]
fn requests_in_huffman_code_are_decoded() {
    decode_example(
        4096,
        &[
            ("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", 57, FIRST),
            ("8286 84be 5886 a8eb 1064 9cbf", 110, SECOND),
            (
                "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
                164,
                THIRD,
            ),
        ],
    );
}

const MOVED: &str = ":status: 302\ncache-control: private\n\
     date: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com";
const TEMPORARY: &str = ":status: 307\ncache-control: private\n\
     date: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com";
const COOKIE: &str = ":status: 200\ncache-control: private\n\
     date: Mon, 21 Oct 2013 20:13:22 GMT\nlocation: https://www.example.com\n\
     content-encoding: gzip\n\
     set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";

/// The example of RFC 7541, appendix C.5.
#[test]
fn responses_evict_what_does_not_fit() {
    decode_example(
        256,
        &[
            (
                "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 \
                 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 \
                 7861 6d70 6c65 2e63 6f6d",
                222,
                MOVED,
            ),
            ("4803 3330 37c1 c0bf", 222, TEMPORARY),
            (
                "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 \
                 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 \
                 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 \
                 6572 7369 6f6e 3d31",
                215,
                COOKIE,
            ),
        ],
    );
}

/// The example of RFC 7541, appendix C.6.
#[test]
fn responses_in_huffman_code_evict_what_does_not_fit() {
    decode_example(
        256,
        &[
            (
                "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 \
                 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
                222,
                MOVED,
            ),
            ("4883 640e ffc1 c0bf", 222, TEMPORARY),
            (
                "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b \
                 d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 \
                 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
                215,
                COOKIE,
            ),
        ],
    );
}

fn refused(hex: &str) -> InvalidBlock {
    let mut decoder = Decoder::new(4096, 200);
    let mut fields = FieldList::default();
    decoder.decode(&bytes(hex), &mut fields).unwrap_err()
}

#[test]
fn a_block_that_can_not_be_decoded_is_refused() {
    assert_eq!(refused("80"), InvalidBlock::Index(0));
    assert_eq!(refused("be"), InvalidBlock::Index(62));
    assert_eq!(refused("ff"), InvalidBlock::Integer);
    assert_eq!(refused("ff ff ff ff ff 0f"), InvalidBlock::Integer);
    assert_eq!(refused("00 05 61 62"), InvalidBlock::String);
    assert_eq!(refused("00 01 61"), InvalidBlock::Integer);
    assert_eq!(refused("00 84 ff ff ff ff 00"), InvalidBlock::Huffman);
    assert_eq!(refused("82 20"), InvalidBlock::TableSize, "after a field");
    assert_eq!(refused("3f e2 1f"), InvalidBlock::TableSize, "4097");
    assert_eq!(refused("82 82 82 82 82"), InvalidBlock::TooLong);
}

#[test]
fn the_peer_may_choose_the_size_that_was_allowed() {
    let mut decoder = Decoder::new(8192, 200);
    let mut fields = FieldList::default();
    let dependence = decoder.decode(&bytes("20 3f e1 3f 82"), &mut fields);
    let resizes = Dependence {
        resizes: true,
        ..Dependence::default()
    };
    assert_eq!(dependence, Ok(resizes));
    assert_eq!(decoder.table.max_size(), 8192);
}

#[test]
fn an_entry_larger_than_the_table_empties_it() {
    let mut table = DynamicTable::new(64);
    table.insert(b"name", b"value");
    assert_eq!(table.entries(), [(&b"name"[..], &b"value"[..])]);
    table.insert(b"name", &[b'v'; 30]);
    assert_eq!((table.entries().len(), table.size()), (0, 0));
}
