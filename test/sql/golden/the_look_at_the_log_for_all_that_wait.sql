select (
  select rowgate.changes_moment()
)::text moment,
(
  select coalesce(json_agg(json_build_array("$feed".feed, rowgate.changes_shape("$feed".feed, "$class".oid))), '[]')
  from json_to_recordset($1::text::json) "$feed"(feed pg_catalog.int4, "schema" pg_catalog.text, "table" pg_catalog.text) left join pg_catalog.pg_namespace "$space" on "$space".nspname = "$feed"."schema" left join pg_catalog.pg_class "$class" on "$class".relnamespace = "$space".oid
    and "$class".relname = "$feed"."table"
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
  from json_to_recordset($4::text::json) "$client"(place pg_catalog.int4, feed pg_catalog.int4, tenant pg_catalog.text, next pg_catalog.xid8, running pg_catalog.xid8[], xid pg_catalog.xid8, seq pg_catalog.int8, at pg_catalog.int8)
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
  select coalesce(json_agg(pg_catalog.json_build_object('id', t.id, 'name', t.name, 'tenant', t.tenant, 'scopes', pg_catalog.to_json(t.scopes), 'tables', pg_catalog.to_json(t.tables), 'created_at', pg_catalog.to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'expires_at', pg_catalog.to_char(t.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'revoked_at', pg_catalog.to_char(t.revoked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'replaces', t.replaces, 'remaining_ms', case when t.revoked_at is not null then 0 when t.expires_at is not null then greatest(0, pg_catalog.floor(extract(epoch from t.expires_at - pg_catalog.clock_timestamp()) * 1000)) end)::text), '[]')
  from rowgate.tokens t
  where t.id = any($5::text::text[])
)::text records
