/** What the sample project keeps in its vault, and at providers; of nobody, so that it may stand here. */
import { requireVaultService } from '../../src/vault/registry.ts';
import { actor, type TestApp } from '../helpers.ts';

/** A vault with something of each kind: plain, secret, a file, and variables of one's own. */
export async function addSecrets(app: TestApp, hostile: string): Promise<void> {
  const { vault, projects } = app.services;
  const shop = projects.require('shop');
  const set = (service: string, values: object, plain?: string[]) =>
    vault.set(actor, shop, requireVaultService(service), values, plain);
  await set('stripe', { publishable_key: 'pk_live_51HsQk2eZvKYlo2C', secret_key: 'sk_live_of_the_shop' });
  await set('captcha', { site_key: hostile, secret_key: '0x4AAAAAAADnPIDROrmt1Wwj', widget_mode: 'managed' });
  const content_base64 = Buffer.from('{"type":"service_account"}').toString('base64');
  await set('firebase', {
    project_id: 'corner-shop',
    service_account: { filename: 'shop.json', content_base64 },
  });
  await set(
    'env',
    { SESSION_KEY: 'session-key-of-the-shop', VITE_THEME: 'dark', STRIPE_SECRET_KEY: hostile, NOTE: hostile },
    ['VITE_THEME', 'NOTE'],
  );
}
