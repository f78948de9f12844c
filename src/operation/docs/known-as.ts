/**
 * Other names for what the guides speak of, by the section that answers. The search finds a section by them,
 * too. A word that a section uses needs no entry unless another section would come first.
 */
export const KNOWN_AS: Readonly<Record<string, string>> = {
  'files#images-smaller': 'thumbnail resize crop image webp compress photos',
  'files#links-that-end': 'presigned signed temporary share link url download',
  'files#uploads-that-go-on': 'resumable chunked large upload',
  'files#in-an-object-store': 'minio bucket amazon r2 cloud storage',
  'mail#schedules': 'cron recurring repeat weekly email',
  'mail#send': 'send email transactional',
  'mail#templates': 'merge tags variables placeholders',
  'mail#how-fast': 'throttle throttling warm up quota sending limit',
  'mail#what-is-promised': 'queue retries exactly once duplicate',
  'deliverability#dns-records': 'verify domain authentication',
  'deliverability#bounces-and-complaints': 'bounced spam complaint blocklist',
  'marketing#imports': 'csv upload spreadsheet excel subscribers',
  'marketing#filters': 'segment audience targeting',
  'marketing#suppressions-and-what-is-held-about-a-person':
    'blacklist blocklist do not contact gdpr dsgvo rgpd privacy personal data erase delete right to be forgotten',
  'marketing#sign-up-forms': 'double opt-in opt in optin subscribe form embed mailing list subscribers',
  'marketing#sequences': 'drip campaign autoresponder automation workflow series onboarding',
  'marketing#newsletters': 'campaign blast bulk mass email send newsletter customers',
  'marketing#ab': 'ab a/b split test subject line',
  'marketing#whose-clicks-are-counted': 'open rate tracking pixel analytics',
  'marketing#links-under-your-own-name': 'custom domain branded white label links tracking',
  'marketing#a-page-of-ones-own-choices': 'preference center preferences',
  'keys-in-pages#a-key-for-a-page': 'cors allowed origins browser frontend javascript client',
  'keys-in-pages#a-key-for-an-app': 'capacitor ionic tauri electron cordova hybrid mobile',
  'keys-in-pages#a-key-of-a-server': 'rotate replace revoke regenerate api key leaked',
  'keys-in-pages#test-keys': 'sandbox test mode',
  'people#people': 'invite user team member admin account',
  'people#signing-in': 'two factor 2fa mfa totp authenticator change password login',
  'people#who-may-do-what': 'roles permissions read only access rights',
  'vault#environment-variables': 'dotenv env file export',
  'vault#environments': 'staging development stage preview dev',
  'vault#what-a-value-was-and-when-it-ends': 'secret versioning versions rollback expiry rotation reminder',
  vault: 'encryption encrypted secrets manager passwords credentials',
  mcp: 'model context protocol ai llm agent assistant claude chatgpt cursor tools',
  webhooks: 'callback callbacks notify events http post',
  backups: 'backup snapshot',
  'backups#every-night': 'nightly daily automatic scheduled cron timer backup',
  'backups#going-back': 'restore recover disaster recovery rollback',
  'second-machine#a-replica-of-the-database': 'litestream replication continuous point in time',
  'second-machine#a-second-machine': 'failover high availability standby',
  'second-machine#moving-a-project': 'migrate migration transfer export import project another server',
  'proxies#without-a-proxy': 'lets encrypt ssl tls https certificate acme',
  container: 'docker podman compose image kubernetes',
  'configuration#metrics': 'monitoring grafana alerting observability',
  'configuration#the-master-key': 'encryption at rest',
  upgrading: 'update version downgrade',
};

/** Say nothing of what is looked for: "how do I send a newsletter to my customers" asks for three words. */
export const SMALL_WORDS: ReadonlySet<string> = new Set(
  (
    'a an and are at be by can do does for from get how i in is it me my of on or our the there to we what when where which why ' +
    'with you your'
  ).split(' '),
);
