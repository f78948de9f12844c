/**
 * What becomes of each table when a project moves to another Satchel, as far as the schema does not say it: rows-store.ts reads columns,
 * keys and types from there. A test compares these lists with the schema, so that whoever adds a table says here what becomes of it.
 */
export const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * Tables whose rows go, in the order in which they are read and arrive: what is referred to comes before what refers. Mails of
 * sequences come before the enrollments that wait for them: one whose mail is gone would end.
 */
export const GOING = words(`
  api_keys key_origins key_usage idempotent_answers audit_events objects upload_days object_link_keys email_templates email_schedules
  marketing_settings marketing_keys marketing_usage contact_lists contacts contact_tags contact_events contact_confirmations sign_ups_of_left
  contact_imports contact_import_rejections contact_import_waiting suppressions suppression_imports tracking_choices addresses_to_forget segments merge_sources merge_source_names merge_links jobs app_calls bulk_contents
  emails email_bodies mailgun_events attachment_pins email_hours email_attempts captured_messages email_reports email_replies email_clicks sequences
  sequence_mails enrollments sequence_counts broadcasts broadcast_variants broadcast_recipients broadcast_counts broadcast_hours broadcast_links
  vault_environments vault_services vault_values vault_versions vault_reveals webhooks`);

/** Of these, rows have numbers that other rows name, or that tell which came first: each gets another one where it arrives. */
export const NUMBERED = [
  'api_keys',
  'contact_lists',
  'contacts',
  'sequences',
  'enrollments',
  'segments',
  'broadcasts',
  'merge_sources',
  'email_reports',
  'email_replies',
] as const;
export type Numbered = (typeof NUMBERED)[number];

/** The table whose row a column names, by the name of the column: also where that row may be gone, so that no foreign key says it. */
export const NAMES: Readonly<
  Record<string, Numbered | 'projects' | 'emails' | 'app_calls' | 'contact_imports' | 'suppressions'>
> = {
  project_id: 'projects',
  api_key_id: 'api_keys',
  list_id: 'contact_lists',
  contact_id: 'contacts',
  last_contact_id: 'contacts',
  decided_to: 'contacts',
  sequence_id: 'sequences',
  enrollment_id: 'enrollments',
  segment_id: 'segments',
  broadcast_id: 'broadcasts',
  source_id: 'merge_sources',
  email_id: 'emails',
  call_id: 'app_calls',
  import_id: 'contact_imports',
  suppression_id: 'suppressions',
};

/** Columns that name a row by number after it is gone: these numbers too must stay apart where they arrive. */
export const NAMED_BEYOND: Partial<Record<Numbered, readonly (readonly [table: string, column: string])[]>> =
  {
    contacts: [
      ['broadcast_recipients', 'contact_id'],
      ['broadcasts', 'last_contact_id'],
      ['broadcasts', 'decided_to'],
    ],
    sequences: [['sequence_mails', 'sequence_id']],
    enrollments: [['sequence_mails', 'enrollment_id']],
  };

/** Found list by list: the index of a project's contacts is in the order of addresses. */
export const FOUND_BY_PARENT = words('contacts');
/** No index has them in the order of their ids, which says nothing about them. */
export const UNORDERED = words(
  'key_origins email_templates merge_sources email_reports email_replies email_clicks vault_values vault_versions',
);
/** Triggers have counted as other rows arrived: what the file says takes the place of these counts. */
export const COUNTED = words('upload_days sequence_counts');

/** Tables that are in the file by a rule of their own: see manifest-store.ts. */
export const APART: Readonly<Record<string, string>> = {
  projects: 'the project itself',
  data_keys: 'wrapped under the passphrase',
  access_tokens: 'those that are scoped to it, by their hash, for this project alone',
  access_token_projects: 'with the tokens',
  person_projects: 'by the address of the person, where there is one of that address',
  ai_account_projects: 'told by the name of the account, for the operator to assign',
  database_project_links: 'told by the name of the database project, for the operator to link',
};

/** Tables that stay, by the reason. */
export const STAYING: Readonly<Record<string, readonly string[]>> = {
  'of the database': words('schema_migrations meta'),
  'triggers count what arrives': words('row_counts contact_counts contact_facets'),
  'over within a day': words('rate_windows'),
  "the operator's":
    words(`global_origins token_trusts token_trust_projects people person_links person_sessions person_recovery_codes person_networks person_passkeys used_challenges
    sending_domains
    alerts mailboxes mailbox_usage mailbox_paces inboxes relay_events domain_reports domain_sources domain_tls ai_accounts database_accounts database_projects`),
  'unfinished; their parts stay, and whoever sends them begins again': words('uploads'),
  'what happened here is told from here': words('webhook_events webhook_deliveries webhook_tries'),
  'bytes of objects, which are in the file as such': words('object_contents pinned_contents'),
  'of the object store': words('store_removals'),
};
