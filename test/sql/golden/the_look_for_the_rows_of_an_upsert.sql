with "$sent" as materialized (
  select null::int4 "$place", "$row"."day" "$match0"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $1::text::"pg_catalog"."int4"
    and false union all
  select ("$list"."$value" ->> $2::text::int4)::int4, ("$list"."$value" ->> $3::text::int4)::"pg_catalog"."date"
  from json_array_elements($4::text::json) "$list"("$value")
),
"$found" as materialized (
  select "$sent"."$place"
  from "$sent", "app"."deals" "$row"
  where "$row"."tenant_id" = $5::text::"pg_catalog"."int4"
    and "$row"."day" = "$sent"."$match0"
  order by "$row"."day" for no key update of "$row"
)
select (
  select min("$numbered"."$place")
  from (
    select "$sent"."$place", row_number() over (partition by "$sent"."$match0" order by "$sent"."$place") "$number"
    from "$sent"
  ) "$numbered"
  where "$numbered"."$number" > 1
)::text repeated,
(
  select json_agg("$place")
  from "$found"
)::text found
