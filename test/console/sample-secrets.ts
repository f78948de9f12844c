/** What the sample project keeps in its vault, and at providers; of nobody, so that it may stand here. */

import { GRANTABLE, type ManagementCaller } from '../../src/platform/http/callers.ts';
import { requireVaultService } from '../../src/secrets/vault/registry.ts';
import { actor, type TestApp } from '../support/helpers.ts';

/** A vault with something of each kind: plain, secret, a file, and variables of one's own. */
async function addVault(app: TestApp, hostile: string): Promise<void> {
  const { vault, projects } = app.services;
  const shop = projects.require('shop');
  const set = (service: string, values: object, plain?: string[]) =>
    vault.set(actor, shop, requireVaultService(service), values, { plain });
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

export interface SecretsSample {
  ai_account: string;
  database: string;
  database_account: string;
}

export async function addSecrets(app: TestApp, hostile: string): Promise<SecretsSample> {
  await addVault(app, hostile);
  return addAccounts(app, hostile);
}

/** Accounts at providers: one that serves the shop, one that serves every project, and a database with its account. */
async function addAccounts(app: TestApp, hostile: string): Promise<SecretsSample> {
  const { projects, ai_accounts, database_accounts, database_projects } = app.services;
  const shop = projects.require('shop');
  const caller: ManagementCaller = {
    kind: 'token',
    ...{ id: 0, name: 'sample', all_projects: true, project_ids: [] },
    capabilities: new Set(GRANTABLE),
    read_only: false,
  };
  const openai = await ai_accounts.create(actor, caller, [shop.id], {
    ...{ name: 'OpenAI, shop', provider: 'openai', api_key: 'sk-of-the-shop-at-openai' },
  });
  await ai_accounts.create(actor, caller, [], { name: hostile, provider: 'ollama', all_projects: true });
  await ai_accounts.create(actor, caller, [], { name: 'Spare', provider: 'custom', is_active: false });
  const account = await database_accounts.create(actor, caller, [], {
    name: 'Supabase',
    provider: 'supabase',
    organization_slug: 'corner',
    access_token: 'sbp_of_the_shop',
  });
  const database = await database_projects.create(actor, caller, [shop.id], {
    ...{ ref: 'abcdefghijkl', name: 'Shop database', region: 'eu-central-1', account_id: account.id },
    ...{ db_host: 'db.example.com', db_port: 5432, db_password: 'password-of-the-shop' },
  });
  await database_projects.create(actor, caller, [], { ref: hostile.slice(0, 60), name: hostile });
  return {
    ai_account: String(openai.id),
    database: String(database.id),
    database_account: String(account.id),
  };
}
