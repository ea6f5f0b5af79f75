with "$sent" as materialized (
  select ("$list"."$value" ->> $1::text::int4)::int4 "$place",
    ("$list"."$value" ->> $2::text::int4)::"pg_catalog"."date" "$match0",
    "$list"."$value"
  from json_array_elements($3::text::json) "$list"("$value")
),
"$found" as materialized (
  select "$sent"."$place", record_image_ne(row("$row"."status"::"pg_catalog"."text", "$row"."tenant_id"), row(("$sent"."$value" ->> $4::text::int4)::"pg_catalog"."text", "$row"."tenant_id")) "$differs",
    json_build_array(record_image_ne(row("$row"."id"::"pg_catalog"."int8", "$row"."tenant_id"), row(("$sent"."$value" ->> $5::text::int4)::"pg_catalog"."int8", "$row"."tenant_id"))) "$fixed",
    (
    select row_to_json("$output")
    from (
      select "$row"."id"
    ) "$output"
  )::text "key", (
    select row_to_json("$output")
    from (
      select "$row"."id", "$row"."status", "$row"."amount", "$row"."day",
        "$row"."tags"
    ) "$output"
  )::text "record", null::text "reread"
  from "$sent", "app"."deals" "$row"
  where "$row"."tenant_id" = $6::text::"pg_catalog"."int4"
    and "$row"."day" = "$sent"."$match0"
),
"$written" as (
  update "app"."deals" "$row"
  set "status" = ("$sent"."$value" ->> $7::text::int4)::"pg_catalog"."text"
  from "$sent"
  where "$row"."tenant_id" = $8::text::"pg_catalog"."int4"
    and "$row"."day" = "$sent"."$match0"
    and record_image_ne(row("$row"."status"::"pg_catalog"."text", "$row"."tenant_id"), row(("$sent"."$value" ->> $9::text::int4)::"pg_catalog"."text", "$row"."tenant_id"))
    and not record_image_ne(row("$row"."id"::"pg_catalog"."int8", "$row"."tenant_id"), row(("$sent"."$value" ->> $10::text::int4)::"pg_catalog"."int8", "$row"."tenant_id"))
  returning case when "$row"."tenant_id" = $11::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end "$held",
    "$sent"."$place", (
    select row_to_json("$output")
    from (
      select "$row"."id"
    ) "$output"
  )::text "key", (
    select row_to_json("$output")
    from (
      select "$row"."id", "$row"."status", "$row"."amount", "$row"."day",
        "$row"."tags"
    ) "$output"
  )::text "record", null::text "reread"
)
select (
  select json_agg(json_build_array("$place", "key", "record", "reread", "$differs", "$fixed"))
  from "$found"
)::text found,
(
  select json_agg(json_build_array("$place", "key", "record", "reread"))
  from "$written"
)::text written
