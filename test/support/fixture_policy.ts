/** The policy that the tests serve the fixture with, when they don't say another. */
export const FIXTURE_POLICY = {
  tables: {
    deals: { hidden_columns: ["secret_score"] },
    countries: { shared: true },
    notes: { tenant_column: "org_id" },
    letters: { tenant_column: "org" },
    documents: { tenant_column: "account_id" },
    ledger: { tenant_column: "company_no" },
  },
};
