/** Functions outside of `src/records/sql` that are one long SQL statement. */
export const STATEMENTS: readonly string[] = [
  "src/catalogue/introspect.ts introspect",
  "src/cli/doctor/foreign_keys.ts readForeignKeys",
  "src/cli/doctor/search_path.ts readSearched",
];

/**
 * Functions that were longer than 60 lines before there was a limit. The list only gets shorter: an entry
 * whose function has been split must go, and no entry is added.
 */
export const LONG_FUNCTIONS: readonly string[] = [
  "src/catalogue/build_table.ts buildTable",
  "src/catalogue/catalogue_loader.ts createCatalogueLoader",
  "src/catalogue/current_catalogue.ts followDatabase",
  "src/catalogue/policy.ts parseTable",
  "src/feeds/changes/feed_functions.ts describeStatementFunction",
  "src/feeds/changes/watch.ts openWatch",
  "src/cli/serve/service.ts assembleService",
  "src/cli/workers/supervise.ts supervise",
  "src/client/poll.ts createTimePoll",
  "src/console/browse/browse_view.tsx BrowseView",
  "src/console/browse/grid.tsx Grid",
  "src/console/browse/rows_toolbar.tsx RowsToolbar",
  "src/console/edit/row_drawer.tsx RowDrawer",
  "src/console/edit/row_field.tsx RowField",
  "src/console/edit/update_view.tsx UpdateView",
  "src/console/filter_editor.tsx GroupEditor",
  "src/console/frame/palette.tsx Palette",
  "src/console/main.tsx App",
  "src/console/reference.tsx Overview",
  "src/console/reference.tsx Reference",
  "src/console/section_list.tsx SectionList",
  "src/console/session.tsx SignIn",
  "src/console/workbench.tsx Workbench",
  "src/database/embedded/shared_session.ts shareSession",
  "src/http/event_stream.ts streamEvents",
  "src/database/postgres/open_database.ts openDatabase",
  "src/database/postgres/pooler.ts makeSettings",
  "src/records/export.ts openRows",
  "src/database/replicas/reading.ts openReading",
  "src/database/replicas/recent_writes.ts openRecentWrites",
  "src/database/replicas/replicas.ts openReplicas",
  "src/server/telemetry/meters.ts openMeters",
  "src/server/telemetry/metrics.ts count",
  "src/access/tokens/store.ts createTokenStore",
  "src/feeds/webhooks/feed_source.ts openFeedSource",
  "src/feeds/webhooks/keep_delivering.ts keepDelivering",
];
