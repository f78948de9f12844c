/**
 * What becomes of each table, column by column, when a project moves to another Satchel: a literal list, which a test compares
 * with the schema, so that whoever adds a table or a column says it here.
 */

/** Tables whose rows have numbers that other rows name: each row gets a number of its own where it arrives. */
export const NUMBERED = [
  'api_keys',
  'contact_lists',
  'contacts',
  'sequences',
  'enrollments',
  'broadcasts',
  'merge_sources',
  'email_reports',
] as const;
export type Numbered = (typeof NUMBERED)[number];

/** Rows that go. They are read, and arrive, in the order of this list: what is referred to comes before what refers. */
export interface Going {
  table: string;
  /** Where those of the project ?1 are; `t` is the table itself. */
  from: string;
  /** Walks an index: nothing is sorted. */
  order?: string;
  /** Columns that stay as they are, or that only its rule in arriving.ts changes. */
  columns: string;
  /** Columns that name a row by its number. */
  numbers?: Readonly<Record<string, Numbered | 'projects'>>;
  /** It has a number of its own, which no row names. */
  has_own_number?: true;
  /** Where triggers have counted as other rows arrived: the columns of its key, by which these counts take their place. */
  replaces?: string;
}

const ofProject = (table: string): Pick<Going, 'from'> => ({ from: `${table} t WHERE t.project_id = ?1` });
const byId = (table: string): Pick<Going, 'from' | 'order'> => ({ ...ofProject(table), order: 't.id' });
const below = (parent: string, table: string, key: string): Pick<Going, 'from'> => ({
  from: `${parent} p CROSS JOIN ${table} t ON t.${key} = p.id WHERE p.project_id = ?1`,
});
/** Found list by list: their own index of projects is in the order of addresses. */
const ofContacts = (table: string): Pick<Going, 'from'> => ({
  from: `contact_lists p CROSS JOIN contacts c ON c.list_id = p.id CROSS JOIN ${table} t ON t.contact_id = c.id
         WHERE p.project_id = ?1`,
});

const PROJECT = { project_id: 'projects' } as const;

export const GOING: readonly Going[] = [
  {
    table: 'withheld',
    ...ofProject('withheld'),
    columns: 'kind id',
    numbers: PROJECT,
  },
  {
    table: 'api_keys',
    ...byId('api_keys'),
    columns: `name key_prefix key_hash sealed_key can_read can_write can_send_emails can_manage_email_marketing restricted
      allow_no_origin email_daily_limit rate_limit_per_minute permissions is_test is_active created_at updated_at last_used_at`,
    numbers: { id: 'api_keys', ...PROJECT },
  },
  {
    table: 'key_origins',
    ...below('api_keys', 'key_origins', 'api_key_id'),
    columns: 'type value sha256_fingerprints sha1_fingerprints created_at',
    numbers: { api_key_id: 'api_keys' },
    has_own_number: true,
  },
  {
    table: 'key_usage',
    ...below('api_keys', 'key_usage', 'api_key_id'),
    columns: 'day n',
    numbers: { api_key_id: 'api_keys' },
  },
  {
    table: 'idempotent_answers',
    ...ofProject('idempotent_answers'),
    columns: 'caller idempotency_key request_hash status body created_at',
    numbers: PROJECT,
  },
  {
    table: 'audit_events',
    ...byId('audit_events'),
    columns: 'id at actor_kind actor_id actor_name ip event target project_public_id metadata changes',
    numbers: PROJECT,
  },
  {
    table: 'objects',
    ...byId('objects'),
    columns: `public_id original_filename mime_type size_bytes sha256 visibility store missing_since expires_at created_at`,
    numbers: PROJECT,
    has_own_number: true,
  },
  {
    table: 'upload_days',
    ...ofProject('upload_days'),
    columns: 'day uploads bytes',
    numbers: PROJECT,
    replaces: 'project_id day',
  },
  {
    table: 'object_link_keys',
    ...ofProject('object_link_keys'),
    columns: 'sealed_key created_at',
    numbers: PROJECT,
  },
  {
    table: 'email_templates',
    ...ofProject('email_templates'),
    columns: `public_id slug name category subject body_html body_text body_markdown description variables is_active
      is_marketing layout created_at updated_at`,
    numbers: PROJECT,
    has_own_number: true,
  },
  {
    table: 'email_schedules',
    ...byId('email_schedules'),
    columns: `id is_test name recipients cron_expression timezone template variables subject body_html body_text cc bcc
      reply_to from_name domain description missed_runs is_active next_run_at last_run_at last_status created_at updated_at`,
    numbers: { api_key_id: 'api_keys', ...PROJECT },
  },
  {
    table: 'marketing_settings',
    ...ofProject('marketing_settings'),
    columns: `enabled from_name reply_to postal_address brand_name brand_color brand_logo_url brand_website_url daily_cap
      send_window_start send_window_end timezone bounce_pause_threshold_percent accounts updated_at`,
    numbers: PROJECT,
  },
  {
    table: 'marketing_keys',
    ...ofProject('marketing_keys'),
    columns: 'sealed_key created_at',
    numbers: PROJECT,
  },
  { table: 'marketing_usage', ...ofProject('marketing_usage'), columns: 'day n', numbers: PROJECT },
  {
    table: 'contact_lists',
    ...byId('contact_lists'),
    columns: `public_id name description default_consent_basis double_opt_in token_hosts confirmation_template
      sign_up_page language from_address archived_at created_at updated_at`,
    numbers: { id: 'contact_lists', ...PROJECT },
  },
  {
    table: 'contacts',
    ...below('contact_lists', 'contacts', 'list_id'),
    order: 'p.id, t.id',
    columns: `public_id email first_name last_name custom status source reason contact_token consent_basis consent_at
      consent_ip consent_origin source_platform confirmed_at status_changed_at created_at updated_at status_before_bounce
      is_mx_unasked clicked_at`,
    numbers: { id: 'contacts', list_id: 'contact_lists', ...PROJECT },
  },
  {
    table: 'contact_tags',
    ...ofContacts('contact_tags'),
    columns: 'tag status',
    numbers: { contact_id: 'contacts', list_id: 'contact_lists' },
  },
  {
    table: 'contact_events',
    ...ofContacts('contact_events'),
    columns: 'event occurred_at meta created_at is_whole_second',
    numbers: { contact_id: 'contacts' },
  },
  {
    table: 'contact_confirmations',
    ...ofContacts('contact_confirmations'),
    columns: 'token_hash expires_at is_test created_at',
    numbers: { contact_id: 'contacts' },
  },
  {
    table: 'contact_imports',
    ...byId('contact_imports'),
    columns: `id job_id method status object_public_id settings position total_rows accepted duplicate invalid_syntax no_mx
      suppressed missing_consent updated_existing error created_at started_at finished_at`,
    numbers: { list_id: 'contact_lists', ...PROJECT },
  },
  {
    table: 'contact_import_rejections',
    ...below('contact_imports', 'contact_import_rejections', 'import_id'),
    columns: 'import_id row_number email reason',
  },
  {
    table: 'contact_import_waiting',
    ...below('contact_imports', 'contact_import_waiting', 'import_id'),
    columns: 'import_id row_number fields',
  },
  {
    table: 'suppressions',
    ...byId('suppressions'),
    columns: 'id hash kind created_at mailbox',
    numbers: PROJECT,
  },
  {
    table: 'merge_sources',
    ...ofProject('merge_sources'),
    columns: 'hash created_at content',
    numbers: { id: 'merge_sources', ...PROJECT },
  },
  {
    table: 'merge_source_names',
    ...below('merge_sources', 'merge_source_names', 'source_id'),
    columns: 'former_id',
    numbers: { source_id: 'merge_sources' },
  },
  {
    table: 'merge_links',
    ...below('merge_sources', 'merge_links', 'source_id'),
    columns: 'position target token_hosts',
    numbers: { source_id: 'merge_sources' },
  },
  {
    table: 'jobs',
    ...byId('jobs'),
    columns: `id type status priority lane run_at attempts max_attempts interruptions payload result error queued_at
      started_at finished_at`,
    numbers: PROJECT,
  },
  {
    table: 'emails',
    ...byId('emails'),
    columns: `id job_id source is_test status requested_domain mailbox_id quota_day from_email from_name domain to_email
      to_name cc bcc reply_to subject template attachments headers message_id taken refused attempts smtp_code smtp_response
      bounce_type error app_id ip user_agent created_at scheduled_at queued_at sent_at delivered_at opened_at clicked_at
      bounced_at complained_at failed_at allowed_mailboxes merge due_at began_at tls`,
    numbers: { api_key_id: 'api_keys', ...PROJECT },
  },
  {
    table: 'email_bodies',
    ...below('emails', 'email_bodies', 'email_id'),
    columns: 'email_id body_html body_text message',
  },
  {
    table: 'attachment_pins',
    ...below('emails', 'attachment_pins', 'email_id'),
    columns: 'email_id object_public_id',
  },
  { table: 'email_hours', ...ofProject('email_hours'), columns: 'hour what n', numbers: PROJECT },
  {
    table: 'email_attempts',
    ...below('emails', 'email_attempts', 'email_id'),
    order: 'p.id, t.id',
    columns: `email_id attempt mailbox choice started_at finished_at outcome smtp_code smtp_response tls may_be_sent`,
    has_own_number: true,
  },
  {
    table: 'captured_messages',
    ...below('emails', 'captured_messages', 'email_id'),
    order: 'p.id, t.id',
    columns: 'email_id mailbox envelope raw captured_at',
    has_own_number: true,
  },
  {
    table: 'email_reports',
    ...below('emails', 'email_reports', 'email_id'),
    columns: 'email_id kind address smtp_code words reported_at mailbox',
    numbers: { id: 'email_reports' },
  },
  {
    table: 'email_clicks',
    ...below('emails', 'email_clicks', 'email_id'),
    columns: 'email_id position at flag is_settled user_agent',
    has_own_number: true,
  },
  {
    table: 'sequences',
    ...byId('sequences'),
    columns: `public_id name status max_recipients exit_events enroll_tags auto_enroll_new_contacts track_opens steps job_id
      bounces_since created_at updated_at pause_reason`,
    numbers: { id: 'sequences', list_id: 'contact_lists', ...PROJECT },
  },
  {
    // Before the enrollments that wait for them: one whose mail is gone would end.
    table: 'sequence_mails',
    ...below('emails', 'sequence_mails', 'email_id'),
    columns: `email_id step sent_at clicked_at opened_at opened_by_machine_at bounced_at unsubscribed_at complained_at is_waiting
      ended_at refused_at is_test`,
    numbers: { sequence_id: 'sequences', enrollment_id: 'enrollments' },
  },
  {
    table: 'enrollments',
    ...below('sequences', 'enrollments', 'sequence_id'),
    order: 'p.id, t.id',
    columns: `public_id is_test state exit_reason error track step counts_from next_at waits_for last_email_id enrolled_at
      ended_at`,
    numbers: { id: 'enrollments', sequence_id: 'sequences', contact_id: 'contacts' },
  },
  {
    table: 'sequence_counts',
    ...below('sequences', 'sequence_counts', 'sequence_id'),
    columns: 'step track what n',
    numbers: { sequence_id: 'sequences' },
    replaces: 'sequence_id step track what',
  },
  {
    table: 'broadcasts',
    ...byId('broadcasts'),
    columns: `public_id name template variables filter track_opens preheader status pause_reason is_test send_at started_at finished_at
      recipients from_name reply_to job_id bounces_since created_at updated_at`,
    numbers: {
      id: 'broadcasts',
      list_id: 'contact_lists',
      last_contact_id: 'contacts',
      decided_to: 'contacts',
      source_id: 'merge_sources',
      ...PROJECT,
    },
  },
  {
    table: 'broadcast_recipients',
    ...below('broadcasts', 'broadcast_recipients', 'broadcast_id'),
    columns: `email_id reason is_waiting sent_at ended_at clicked_at opened_at opened_by_machine_at bounced_at complained_at
      unsubscribed_at refused_at`,
    numbers: { broadcast_id: 'broadcasts', contact_id: 'contacts' },
  },
  {
    table: 'broadcast_counts',
    ...below('broadcasts', 'broadcast_counts', 'broadcast_id'),
    columns: 'what n',
    numbers: { broadcast_id: 'broadcasts' },
  },
  {
    table: 'broadcast_hours',
    ...below('broadcasts', 'broadcast_hours', 'broadcast_id'),
    columns: 'hour what n',
    numbers: { broadcast_id: 'broadcasts' },
  },
  {
    table: 'broadcast_links',
    ...below('broadcasts', 'broadcast_links', 'broadcast_id'),
    columns: 'position people clicks',
    numbers: { broadcast_id: 'broadcasts' },
  },
  {
    table: 'vault_services',
    ...ofProject('vault_services'),
    columns: 'service updated_at',
    numbers: PROJECT,
  },
  {
    table: 'vault_values',
    ...ofProject('vault_values'),
    columns: 'service field sealed filename created_at updated_at is_plain',
    numbers: PROJECT,
    has_own_number: true,
  },
  {
    table: 'vault_reveals',
    ...byId('vault_reveals'),
    columns: 'at actor_kind actor_id actor_name ip how service field',
    numbers: PROJECT,
    has_own_number: true,
  },
  {
    table: 'webhooks',
    ...byId('webhooks'),
    columns: `public_id url description types sealed_secret sealed_old_secret old_secret_until is_active disabled_reason
      failing_since after_event deliveries created_at updated_at`,
    numbers: PROJECT,
    has_own_number: true,
  },
];

/**
 * Rows that are named by number after they are gone: their numbers too must stay apart where they arrive. Each is a column and
 * where it is found.
 */
export const NAMED_BEYOND: Partial<Record<Numbered, readonly { column: string; from: string }[]>> = {
  contacts: [
    { column: 't.contact_id', ...below('broadcasts', 'broadcast_recipients', 'broadcast_id') },
    { column: 't.last_contact_id', from: 'broadcasts t WHERE t.project_id = ?1 AND t.last_contact_id > 0' },
    { column: 't.decided_to', from: 'broadcasts t WHERE t.project_id = ?1 AND t.decided_to > 0' },
  ],
  sequences: [{ column: 't.sequence_id', ...below('emails', 'sequence_mails', 'email_id') }],
  enrollments: [{ column: 't.enrollment_id', ...below('emails', 'sequence_mails', 'email_id') }],
};

/** What is in the file by a rule of its own: see manifest-store.ts. */
export const APART: Readonly<Record<string, string>> = {
  projects: 'the project itself',
  data_keys: 'wrapped under the passphrase',
  access_tokens: 'those that are scoped to it, by their hash, for this project alone',
  access_token_projects: 'with the tokens',
  person_projects: 'by the address of the person, where there is one of that address',
  ai_account_projects: 'told by the name of the account, for the operator to assign',
  database_project_links: 'told by the name of the database project, for the operator to link',
};

/** What stays, and why. */
export const STAYING: Readonly<Record<string, string>> = {
  schema_migrations: 'of the database',
  meta: 'of the database',
  row_counts: 'triggers count what arrives',
  contact_counts: 'triggers count what arrives',
  rate_windows: 'over within a day',
  global_origins: "the operator's",
  people: "the operator's",
  person_links: "the operator's",
  person_sessions: "the operator's",
  person_recovery_codes: "the operator's",
  person_networks: "the operator's",
  uploads: 'unfinished; their parts stay, and whoever sends them begins again',
  webhook_events: 'what happened here is told from here',
  webhook_deliveries: 'what happened here is told from here',
  store_removals: 'of the object store',
  sending_domains: "the operator's",
  mailboxes: "the operator's",
  mailbox_usage: "the operator's",
  mailbox_paces: "the operator's",
  inboxes: "the operator's",
  ai_accounts: "the operator's",
  database_accounts: "the operator's",
  database_projects: "the operator's",
};

/** The columns of rows that go, in the order in which they stand in the file. */
export function columnsOf({ columns, numbers = {} }: Going): string[] {
  return [...Object.keys(numbers), ...columns.trim().split(/\s+/)];
}
