/** The services that a vault knows: their fields, which are secret, and what a page or an app may carry. */
import { AppError, invalid } from '../../errors.ts';

export interface VaultField {
  field: string;
  label: string;
  help_text: string;
  /** Never shown but by reveal. Files are. */
  secret: boolean;
  /** Whether it may stand in a web page or an app: only such fields are in client blocks. */
  client_safe: boolean;
  /** Name of the environment variable; unique over all services. */
  env_key: string;
  /** Sent as `{filename, content_base64}`; in no env block. */
  file: boolean;
}

export interface VaultService {
  service: string;
  label: string;
  fields: readonly VaultField[];
  /** Holds whatever names it is given, `ENV_NAME`; each is stored as secret or as plain. */
  free_form: boolean;
}

/** What shells, too, take for the name of a variable. */
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export const WIDGET_MODES: readonly string[] = ['managed', 'non-interactive', 'invisible'];

type Kind = 'plain' | 'client' | 'secret' | 'file';
type FieldSpec = readonly [
  field: string,
  kind: Kind,
  label: string,
  help_text: string,
  options?: { env_key: string },
];

/** The variable is named after service and field, unless tools expect another name. */
function service(name: string, label: string, specs: readonly FieldSpec[]): VaultService {
  return {
    service: name,
    label,
    free_form: false,
    fields: specs.map(([field, kind, field_label, help_text, options]) => ({
      field,
      label: field_label,
      help_text,
      secret: kind === 'secret' || kind === 'file',
      client_safe: kind === 'client',
      env_key: options?.env_key ?? `${name}_${field}`.toUpperCase(),
      file: kind === 'file',
    })),
  };
}

export const VAULT_SERVICES: readonly VaultService[] = [
  service('captcha', 'Captcha', [
    ['site_key', 'client', 'Site key', 'Public key of the widget; it stands in your pages.'],
    ['secret_key', 'secret', 'Secret key', 'What POST /captcha/verify authenticates with at the provider.'],
    ['widget_name', 'plain', 'Widget name', "The widget's name in the provider's dashboard."],
    ['widget_mode', 'plain', 'Widget mode', `One of ${WIDGET_MODES.join(', ')}.`],
    ['hostnames', 'plain', 'Allowed hostnames', 'Where the widget may run, for your information.'],
    ['expected_action', 'plain', 'Expected action', 'Tokens of another action fail verification.'],
  ]),
  service('database', 'Database', [
    [
      'url',
      'client',
      'API URL',
      'Address of the HTTP API. The connection string is another field, db_url.',
      { env_key: 'DATABASE_API_URL' },
    ],
    ['publishable_key', 'client', 'Publishable key', 'Key for browsers and apps.'],
    ['secret_key', 'secret', 'Secret key', 'Key with full access; for servers only.'],
    [
      'db_url',
      'secret',
      'Connection string',
      'postgres://user:password@host:port/name, as migration tools expect it in DATABASE_URL.',
      { env_key: 'DATABASE_URL' },
    ],
  ]),
  service('firebase', 'Firebase', [
    ['api_key', 'client', 'Web API key', 'apiKey of the web configuration.'],
    ['auth_domain', 'client', 'Auth domain', 'authDomain, such as my-app.firebaseapp.com.'],
    ['project_id', 'client', 'Project id', 'projectId of the web configuration.'],
    ['app_id', 'client', 'App id', 'appId, such as 1:1234567890:web:abcdef.'],
    ['messaging_sender_id', 'client', 'Sender id', 'messagingSenderId, a number.'],
    ['storage_bucket', 'client', 'Storage bucket', 'storageBucket, such as my-app.appspot.com.'],
    ['service_account', 'file', 'Service account', 'JSON key of the service account, for servers.'],
    ['google_services_json', 'file', 'google-services.json', 'Configuration file of the Android app.'],
    ['google_service_info_plist', 'file', 'GoogleService-Info.plist', 'Configuration file of the iOS app.'],
  ]),
  service('app_store_connect', 'App Store Connect', [
    ['key_id', 'plain', 'Key id', 'Ten characters, in the name of the .p8 file as well.'],
    ['issuer_id', 'plain', 'Issuer id', 'The UUID above the list of keys.'],
    ['private_key_p8', 'file', 'Private key (.p8)', 'AuthKey_….p8; Apple lets you download it once.'],
  ]),
  service('google_play', 'Google Play', [
    ['service_account', 'file', 'Service account', 'JSON key of the service account that publishes.'],
  ]),
  service('android_signing', 'Android signing', [
    ['keystore', 'file', 'Keystore', 'The .jks or .keystore file. Losing it means losing the app.'],
    ['store_password', 'secret', 'Store password', 'Password of the keystore.'],
    ['key_alias', 'plain', 'Key alias', 'Name of the key within the keystore.'],
    ['key_password', 'secret', 'Key password', 'Password of that key.'],
  ]),
  service('google_oauth', 'Google sign-in', [
    ['web_client_id', 'client', 'Web client id', 'Ends in .apps.googleusercontent.com.'],
    ['ios_client_id', 'client', 'iOS client id', 'Ends in .apps.googleusercontent.com.'],
    ['android_client_id', 'client', 'Android client id', 'Ends in .apps.googleusercontent.com.'],
    ['client_secret', 'secret', 'Client secret', 'Secret of the web client, for servers.'],
  ]),
  service('stripe', 'Stripe', [
    ['publishable_key', 'client', 'Publishable key', 'pk_live_… or pk_test_…'],
    ['secret_key', 'secret', 'Secret key', 'sk_live_…, sk_test_… or a restricted rk_… key.'],
    ['webhook_secret', 'secret', 'Webhook secret', 'whsec_…, which signs the events of one endpoint.'],
  ]),
  service('revenuecat', 'RevenueCat', [
    ['ios_public_key', 'client', 'iOS public key', 'appl_…, public key of the App Store app.'],
    ['android_public_key', 'client', 'Android public key', 'goog_…, public key of the Play Store app.'],
    ['secret_key', 'secret', 'Secret key', 'sk_…, for servers.'],
  ]),
  service('sentry', 'Sentry', [
    ['dsn', 'client', 'DSN', 'Where events are sent to; it may stand in pages and apps.'],
    ['auth_token', 'secret', 'Auth token', 'For releases and source maps.'],
    ['org', 'plain', 'Organization', 'Slug of the organization.'],
    ['project', 'plain', 'Project', 'Slug of the project.'],
  ]),
  service('smtp', 'SMTP relay', [
    ['host', 'plain', 'Host', "The relay's name, such as smtp.example.com."],
    ['port', 'plain', 'Port', '587 or 465, as a rule.'],
    ['username', 'plain', 'User name', 'What the app logs in with.'],
    ['password', 'secret', 'Password', 'What the app logs in with.'],
  ]),
  service('s3', 'S3 storage', [
    [
      'endpoint',
      'plain',
      'Endpoint',
      'Address of the service, such as https://s3.eu-central-1.amazonaws.com.',
    ],
    ['region', 'plain', 'Region', 'Such as eu-central-1.'],
    ['bucket', 'plain', 'Bucket', 'Name of the bucket.'],
    ['access_key_id', 'plain', 'Access key id', 'Names the key pair; no secret by itself.'],
    ['secret_access_key', 'secret', 'Secret access key', 'The secret half of the key pair.'],
  ]),
  { service: 'env', label: 'Environment variables', fields: [], free_form: true },
];

/** The field of a service that has this name, if any; in a free-form service it is a secret one. */
export function findVaultField(service: VaultService, name: string): VaultField | undefined {
  if (service.free_form) return ENV_NAME.test(name) ? freeFormField(name, false) : undefined;
  return service.fields.find((each) => each.field === name);
}

/** As `findVaultField`. Throws AppError `invalid` for a name that can stand for none. */
export function requireVaultField(service: VaultService, name: string): VaultField {
  const found = findVaultField(service, name);
  if (found) return found;
  const known = service.fields.map((each) => each.field).join(', ');
  const told = service.free_form ? 'is no name of a variable' : `must be one of: ${known}`;
  throw invalid({ field: [told] });
}

/** A name of a free-form service as a field. A plain one's prefix says which client blocks it is in. */
export function freeFormField(name: string, is_plain: boolean): VaultField {
  return {
    field: name,
    label: name,
    help_text: '',
    secret: !is_plain,
    client_safe: is_plain,
    env_key: name,
    file: false,
  };
}

/** The service of this name. Throws AppError `not_found` that lists the valid ones. */
export function requireVaultService(name: string): VaultService {
  const found = VAULT_SERVICES.find((each) => each.service === name);
  if (found) return found;
  const services = VAULT_SERVICES.map((each) => each.service);
  throw new AppError(
    'not_found',
    `There is no vault service of this name. The services are: ${services.join(', ')}.`,
    { details: { services } },
  );
}

/** The file field that `<service>.<field>` names. Throws AppError `not_found`, which lists all. */
export function requireVaultFile(path: string): { service: VaultService; field: VaultField } {
  const dot = path.indexOf('.');
  const service = requireVaultService(dot < 0 ? path : path.slice(0, dot));
  const field = service.fields.find((each) => each.file && each.field === path.slice(dot + 1));
  if (dot >= 0 && field) return { service, field };
  const files = service.fields.filter((each) => each.file).map((each) => `${service.service}.${each.field}`);
  throw new AppError(
    'not_found',
    files.length > 0
      ? `There is no vault file of this name. The files of ${service.service} are: ${files.join(', ')}.`
      : `The vault service ${service.service} has no files.`,
    { details: { files } },
  );
}

/** Secrets that providers publish for tests: whoever stores one verifies nothing. */
const CAPTCHA_TEST_SECRETS: ReadonlyMap<string, string> = new Map([
  ['1x0000000000000000000000000000000AA', 'the Turnstile test secret that passes every visitor'],
  ['2x0000000000000000000000000000000AA', 'the Turnstile test secret that fails every visitor'],
  ['3x0000000000000000000000000000000AA', 'the Turnstile test secret that calls every token already spent'],
  ['0x0000000000000000000000000000000000000000', 'the hCaptcha test secret that passes every visitor'],
  ['6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe', 'the reCAPTCHA test secret that passes every visitor'],
]);

/** Tells what a captcha secret is that a provider publishes for tests; null for any other. */
export function captchaTestSecret(secret: string): string | null {
  return CAPTCHA_TEST_SECRETS.get(secret.trim()) ?? null;
}
