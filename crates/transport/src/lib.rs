//! Connections that carry the wire: dialling, names, TLS, Unix sockets.
