/** Accounts at AI providers, with the key of each. Whom they serve is in assignments.ts. */
import { collectErrors, type FieldErrors, forbidden, invalid } from '../../errors.ts';
import { toIso } from '../../platform/host/clock.ts';
import type { ManagementCaller } from '../../platform/http/callers.ts';
import {
  type AiAccountChanges,
  type AiAccountRecord,
  KEYLESS_AI_PROVIDERS,
  type NewAiAccountInput,
  type RevealedAiAccount,
} from './schemas.ts';
import { type Change, ProviderRecords, prefixOf, type RecordDeps } from './service.ts';
import { aiAccountStore, insertAssignment, listProjectIds } from './store.ts';
import type { AiAccountRow, aiAccounts } from './tables.ts';

export interface AiAccountShapes {
  row: AiAccountRow;
  insert: typeof aiAccounts.$inferInsert;
  input: NewAiAccountInput;
  changes: AiAccountChanges;
  shown: AiAccountRecord;
  revealed: RevealedAiAccount;
  secret: 'api_key';
}

export class AiAccounts extends ProviderRecords<AiAccountShapes> {
  constructor(deps: RecordDeps) {
    const links = { list: listProjectIds, insert: insertAssignment };
    super(deps, { kind: 'ai_account', noun: 'AI account', store: aiAccountStore, links });
  }

  /** A standing rule reaches projects that a scoped caller does not. Throws AppError `forbidden`. */
  override authorize(caller: ManagementCaller, { all_projects }: { readonly all_projects?: unknown }): void {
    if (all_projects !== true || caller.all_projects) return;
    throw forbidden('all_projects reaches beyond your scope: only a caller of all projects may set it.');
  }

  override errorsIn({
    current,
    sent,
  }: {
    current: AiAccountRow | null;
    sent: AiAccountChanges;
  }): FieldErrors {
    const { provider = current?.provider, api_key = current?.sealed_api_key ?? null } = sent;
    return provider === undefined ? {} : collectErrors(() => requireKey(provider, api_key));
  }

  override present(account: AiAccountRow): AiAccountRecord {
    return {
      id: account.id,
      public_id: account.public_id,
      name: account.name,
      provider: account.provider,
      key_prefix: account.key_prefix,
      base_url: account.base_url,
      organization_id: account.organization_id,
      is_active: account.is_active,
      all_projects: account.all_projects,
      created_at: toIso(account.created_at),
    };
  }

  protected override newRow({ api_key, ...rest }: NewAiAccountInput, on: Change<AiAccountShapes>) {
    return { is_active: true, all_projects: false, ...rest, ...keyColumns(api_key, on) };
  }

  protected override changedRow({ api_key, ...rest }: AiAccountChanges, on: Change<AiAccountShapes>) {
    return { ...rest, ...keyColumns(api_key, on) };
  }

  protected override requireSound({ provider, sealed_api_key }: AiAccountRow): void {
    requireKey(provider, sealed_api_key);
  }

  protected override sealedOf({ sealed_api_key }: AiAccountRow) {
    return { api_key: sealed_api_key };
  }

  protected override revealed(open: (field: 'api_key') => string | null): RevealedAiAccount {
    return { api_key: open('api_key') };
  }

  protected override factsOf(account: AiAccountRow, sent: AiAccountChanges, is_new: boolean): object {
    const { provider, all_projects } = account;
    if (is_new) return { provider, all_projects };
    return sent.all_projects === undefined ? {} : { all_projects };
  }
}

function keyColumns(api_key: string | null | undefined, { seal }: Change<AiAccountShapes>) {
  if (api_key === undefined) return {};
  if (api_key === null) return { key_prefix: null, sealed_api_key: null };
  return { key_prefix: prefixOf(api_key), sealed_api_key: seal('api_key', api_key) };
}

function requireKey(provider: string, api_key: string | null): void {
  if (api_key !== null || KEYLESS_AI_PROVIDERS.includes(provider)) return;
  throw invalid({ api_key: [`is required for the provider ${provider}`] });
}
