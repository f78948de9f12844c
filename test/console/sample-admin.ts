/** What who may administer looks after: domains and mailboxes in several states. */
import { actor, type TestApp } from '../helpers.ts';

/** `hostile`: what must be shown as the text it is. */
export async function addAdministration(app: TestApp, _hostile: string): Promise<void> {
  const { sending_domains } = app.services;
  await sending_domains.add(actor, { name: 'news.example.com' });
  await sending_domains.rotateDkim(actor, 'news.example.com');
  await sending_domains.add(actor, { name: 'old.example.com' });
  await sending_domains.change(actor, 'old.example.com', { is_active: false });
}
