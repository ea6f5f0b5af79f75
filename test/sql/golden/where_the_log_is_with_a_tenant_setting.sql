with "$none" as (
  select
),
"$settings" as materialized (
  select concat(set_config($1::text, $2::text, true)) "$made"
),
"$last" as (
  select
)
select (
  select rowgate.changes_moment()
)::text moment,
(
  select rowgate.changes_shape($3::text::int4, $4::text::regclass::oid)
)::text shape,
(
  select exists (
    select
    from rowgate.changes "$log"
    where "$log".xid = $5::text::xid8
      and "$log".seq = $6::text::int8
      and (extract(epoch from "$log".at) * 1000000)::int8 = $7::text::int8
  )
)::text anchored
from "$settings"
where "$settings"."$made" is not null
