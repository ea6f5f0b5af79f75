select (
  select rowgate.changes_moment()
)::text moment,
(
  select rowgate.changes_shape($1::text::int4, $2::text::regclass::oid)
)::text shape,
(
  select exists (
    select
    from rowgate.changes "$log"
    where "$log".xid = $3::text::xid8
      and "$log".seq = $4::text::int8
      and (extract(epoch from "$log".at) * 1000000)::int8 = $5::text::int8
  )
)::text anchored
