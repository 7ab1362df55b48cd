-- The data of every run: ten thousand items, the same on every machine. Running it again restores
-- them, with services connected.
set client_min_messages = warning;
set lock_timeout = '30s';
create table if not exists item(
    id bigserial primary key,
    name text not null,
    price bigint not null,
    note text not null
);
truncate item restart identity;
insert into item(name, price, note)
    select 'item ' || g, g * 7 % 1000, md5(g::text) from generate_series(1, 10000) g;
vacuum analyze item;
checkpoint;
