-- The role that serves. Its grants limit what clients can reach.
\getenv password ROWGATE_DB_PASSWORD
create role rowgate_app login nosuperuser nocreatedb nocreaterole nobypassrls password :'password';
grant usage on schema public to rowgate_app;
grant select on orders, countries to rowgate_app;
grant update (status, note) on orders to rowgate_app;
