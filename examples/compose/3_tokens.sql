-- Run after "rowgate setup". The role that serves can read tokens and cannot create them.
grant usage on schema rowgate to rowgate_app;
grant select on rowgate.tokens, rowgate.secrets to rowgate_app;
