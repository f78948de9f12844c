/** Webhooks of a project: one that is told things, and one that was switched off. */
import { noNote } from '../../src/platform/database/audit-trail.ts';
import type { TestApp } from '../support/helpers.ts';

export interface WebhooksSample {
  webhook: string;
}

export async function addWebhooks(app: TestApp, hostile: string): Promise<WebhooksSample> {
  const { webhooks, projects, database } = app.services;
  const shop = projects.require('shop');
  const { id } = await webhooks.create(
    shop,
    { url: 'https://hooks.example.org/satchel', types: ['email.bounced', 'contact.unsubscribed'] },
    noNote,
  );
  // No name has an address here.
  for (let n = 0; n < 3; n += 1) await webhooks.test(shop, id, noNote);
  const off = await webhooks.create(
    shop,
    { url: `https://gone.example.org/${encodeURIComponent(hostile)}`, description: hostile },
    noNote,
  );
  await database.write((tx) => {
    tx.$client.run("UPDATE webhooks SET is_active = 0, disabled_reason = 'failing' WHERE public_id = ?", [
      off.id,
    ]);
    tx.$client.run(
      `UPDATE webhook_deliveries SET status = 'delivered', response_status = 200, error = NULL
       WHERE id = (SELECT max(id) FROM webhook_deliveries)`,
    );
  });
  return { webhook: id };
}
