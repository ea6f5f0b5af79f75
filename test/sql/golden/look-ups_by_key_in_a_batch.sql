values ($1::text, (
  select case when pg_column_size("$json") <= 65540 then "$json"
  else 'null' end
  from (
    select case when coalesce(octet_length("$record"."status"), 0)::int8 <= $2::text::int8 then row_to_json("$record")
    else 'null' end "$json"
    from (
      select "$row"."id", "$row"."status"
      from "app"."deals" "$row"
      where "$row"."tenant_id" = $3::text::"pg_catalog"."int4"
        and ("$row"."id" = $4::text::"pg_catalog"."int8")
    ) "$record"
    limit 1
  ) "$found"
)),
($5::text, (
  select case when pg_column_size("$json") <= 65540 then "$json"
  else 'null' end
  from (
    select case when coalesce(octet_length("$record"."status"), 0)::int8 <= $6::text::int8 then row_to_json("$record")
    else 'null' end "$json"
    from (
      select "$row"."id", "$row"."status"
      from "app"."deals" "$row"
      where "$row"."tenant_id" = $7::text::"pg_catalog"."int4"
        and ("$row"."id" = $8::text::"pg_catalog"."int8")
    ) "$record"
    limit 1
  ) "$found"
)),
($9::text, (
  select case when pg_column_size("$json") <= 65540 then "$json"
  else 'null' end
  from (
    select case when coalesce(octet_length("$record"."status"), 0)::int8 <= $10::text::int8 then row_to_json("$record")
    else 'null' end "$json"
    from (
      select "$row"."id", "$row"."status"
      from "app"."deals" "$row"
      where "$row"."tenant_id" = $11::text::"pg_catalog"."int4"
        and ("$row"."id" = $12::text::"pg_catalog"."int8")
    ) "$record"
    limit 1
  ) "$found"
)),
($13::text, (
  select case when pg_column_size("$json") <= 65540 then "$json"
  else 'null' end
  from (
    select case when coalesce(octet_length("$record"."status"), 0)::int8 <= $14::text::int8 then row_to_json("$record")
    else 'null' end "$json"
    from (
      select "$row"."id", "$row"."status"
      from "app"."deals" "$row"
      where "$row"."tenant_id" = $15::text::"pg_catalog"."int4"
        and ("$row"."id" = $16::text::"pg_catalog"."int8")
    ) "$record"
    limit 1
  ) "$found"
))
