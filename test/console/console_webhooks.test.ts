import { assert, assertEquals, assertMatch } from "@std/assert";
import { describeConsole } from "./describe_console.ts";
import { findBarriers, findSmallControls, measureOverflow, openView } from "./inspect_page.ts";

const TOKEN = "WEBHOOKS_TOKEN";

describeConsole("the console: webhooks", (test) => {
  test(
    "shows the webhooks of the token and how their deliveries go, without their path",
    async ({ page, address }) => {
      await openView(page, "Webhooks");
      await page.getByText("This token has no webhooks.").waitFor();
      const url = "https://hooks.zapier.com/hooks/catch/very-secret/";
      const response = await fetch(`${address}integration/webhooks`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify({ url, tables: ["orders", "customers"] }),
      });
      const { webhook } = await response.json();
      assertEquals(response.status, 201);
      await page.getByRole("button", { name: "Refresh" }).click();
      const row = page.locator(".webhooks tbody tr");
      await row.waitFor();
      const text = (await row.innerText()).replaceAll(/\s+/g, " ");
      assertMatch(
        text,
        new RegExp(`^${webhook.id} hooks.zapier.com orders, customers enabled 0 never`),
      );
      assert(!(await page.locator("body").innerText()).includes("very-secret"));
      assertEquals(await findBarriers(page), []);
      assertEquals(await findSmallControls(page), []);
    },
    { token: TOKEN },
  );

  test("fits on a narrow screen", async ({ page }) => {
    await openView(page, "Webhooks");
    await page.getByRole("heading", { name: "Webhooks" }).waitFor();
    assertEquals(await measureOverflow(page), 0);
  }, { token: TOKEN, width: 360, height: 700 });

  test("has no such view for a token without the scope", async ({ page }) => {
    const views = page.getByRole("navigation", { name: "Views" });
    assertEquals(await views.getByRole("button", { name: "Webhooks" }).count(), 0);
  });
});
