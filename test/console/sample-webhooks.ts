/** Webhooks of a project: one that is told things, and one that was switched off. */
import { noNote } from '../../src/platform/database/audit-trail.ts';
import { saveTry } from '../../src/webhooks/store.ts';
import type { TestApp } from '../support/helpers.ts';

export interface WebhooksSample {
  webhook: string;
  /** One that was answered. */
  delivery: string;
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
  const tests = [];
  for (let n = 0; n < 3; n += 1) tests.push(await webhooks.test(shop, id, noNote));
  const delivery =
    tests
      .map((test) => test.id)
      .toSorted()
      .at(-1) ?? '';
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
       WHERE id = ?`,
      [delivery],
    );
    const made = {
      ...{ at: app.clock.now(), ms: 41, url: 'https://hooks.example.org/satchel', is_inside: false },
      headers: {
        Host: 'hooks.example.org',
        'webhook-id': delivery,
        'webhook-signature': `v1,${'Zm9vYmFy'.repeat(6)}`,
      },
      answer: { content_type: 'text/html', body: `<h1>${hostile}</h1>\n`.repeat(40), is_cut: true },
    };
    saveTry(tx, { id: delivery, webhook_id: webhooks.require(shop.id, id).id }, made);
  });
  return { webhook: id, delivery };
}
