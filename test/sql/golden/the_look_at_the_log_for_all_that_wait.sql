select (
  select rowgate.changes_moment()
)::text moment,
(
  select coalesce(json_agg(json_build_array("$feed".feed, rowgate.changes_shape("$feed".feed, to_regclass("$feed"."table")::oid))), '[]')
  from json_to_recordset($1::text::json) "$feed"(feed int4, "table" text)
)::text shapes,
(
  select coalesce(json_agg(json_build_array("$new".feed, "$new".tenant)), '[]')
  from (
    select "$log".feed, "$log".tenant
    from rowgate.changes "$log"
    where "$log".xid >= $2::text::xid8 union
    select "$log".feed, "$log".tenant
    from rowgate.changes "$log"
    where "$log".xid = any($3::text::xid8[])
  ) "$new"
)::text changed,
(
  select coalesce(json_agg("$client".place), '[]')
  from json_to_recordset($4::text::json) "$client"(place int4, feed int4, tenant text, next xid8, running xid8[], xid xid8, seq int8, at int8)
  where exists (
    select
    from rowgate.changes "$log"
    where "$log".feed = "$client".feed
      and "$log".tenant = "$client".tenant
      and "$log".xid >= "$client".next
  ) or exists (
    select
    from rowgate.changes "$log"
    where "$log".feed = "$client".feed
      and "$log".tenant = "$client".tenant
      and "$log".xid = any("$client".running)
  ) or ("$client".xid is not null and not exists (
    select
    from rowgate.changes "$log"
    where "$log".xid = "$client".xid
      and "$log".seq = "$client".seq
      and (extract(epoch from "$log".at) * 1000000)::int8 = "$client".at
  ))
)::text behind,
(
  select coalesce(json_agg("$id"), '[]')
  from unnest($5::text::text[]) "$id"
  where not exists (
    select
    from rowgate.tokens "$token"
    where "$token".id = "$id"
      and "$token".revoked_at is null
      and ("$token".expires_at is null or "$token".expires_at > clock_timestamp())
  )
)::text ended,
(
  select coalesce(json_agg("$token".id), '[]')
  from rowgate.tokens "$token"
  where "$token".id = any($6::text::text[])
    and "$token".revoked_at is null
    and ("$token".expires_at is null or "$token".expires_at > clock_timestamp() + interval '5 s')
)::text lasting
