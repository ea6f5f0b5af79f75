-- After "rowgate setup": the role that serves reads the tokens, it makes none.
grant usage on schema rowgate to rowgate_app;
grant select on rowgate.tokens to rowgate_app;
