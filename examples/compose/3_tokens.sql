-- Run after "rowgate setup". The role that serves can read tokens and cannot create them.
grant usage on schema rowgate to rowgate_app;
grant select on rowgate.tokens, rowgate.secrets to rowgate_app;
-- The answers of updates that were sent with an Idempotency-Key.
grant select, insert, delete on rowgate.idempotency_keys to rowgate_app;
