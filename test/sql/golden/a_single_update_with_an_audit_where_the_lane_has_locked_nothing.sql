with
"$c" as materialized (select concat(set_config($1::text, $2::text, true)) "$s"),
"$m" as materialized (select "$t".ctid "$i", "$t".xmin "$v", "$t".tableoid "$o", record_image_ne(row("$t"."amount"::"pg_catalog"."numeric", "$t"."tags"::text[], "$t"."day"::"pg_catalog"."date"), row($3::text::"pg_catalog"."numeric", $4::text::text[], $5::text::"pg_catalog"."date")) "$d"
from "app"."deals" "$t"
where "$t"."tenant_id" = $6::text::"pg_catalog"."int4"
and ("$t"."id" = $7::text::"pg_catalog"."int8"
and "$t"."status" is null)
limit 2),
"$k" as materialized (select count(*) "$n"
from "$m"),
"$u" as (update "app"."deals" "$t" set "amount" = $8::text::"pg_catalog"."numeric", "tags" = $9::text::text[], "day" = $10::text::"pg_catalog"."date"
from "$m", "$k"
where "$k"."$n" = 1
and "$m"."$d"
and "$t".ctid = "$m"."$i"
and "$t".xmin = "$m"."$v"
and "$t".tableoid = "$m"."$o"
and "$k"."$n" <= $11::text::int8 and false
and "$t"."tenant_id" = $12::text::"pg_catalog"."int4"
and ("$t"."id" = $13::text::"pg_catalog"."int8"
and "$t"."status" is null)
returning 1),
"$a" as (insert into rowgate.audit (request_id, token_id, tenant, schema_name, table_name, operation, filter_fields, fields, matched, updated) select $14::text, $15::text, $16::text, $17::text, $18::text, $19::text, $20::text::text[], $21::text::text[], "$k"."$n", (select count(*)
from "$u")
from "$k", "$m"
where "$k"."$n" = 1
and "$k"."$n" <= $22::text::int8 and (not "$m"."$d" or exists (select
from "$u")))
select (select case when "$n" < 2 then "$n"
else (select count(*)
from "app"."deals" "$t"
where "$t"."tenant_id" = $23::text::"pg_catalog"."int4"
and ("$t"."id" = $24::text::"pg_catalog"."int8"
and "$t"."status" is null)) end
from "$k")::text matched, (select "$k"."$n" = 1 and coalesce(bool_or("$m"."$d"), false)
from "$k" left join "$m" on true group by "$k"."$n") wanted, (select count(*)
from "$u")::text updated, (num_nulls($25::text::"pg_catalog"."numeric") + num_nulls($26::text::text[]) + num_nulls($27::text::"pg_catalog"."date")) judged
from "$c"
where "$c"."$s" is not null
