/** The verbs of `satchel vault` about what it has held: history, restore and purge. */
import { rowOf } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { counted } from '../../platform/words/phrases.ts';
import { type Services, vaultOf, vaultVerb } from './environment-cli.ts';
import { requireVaultService, type VaultService } from './registry.ts';

const serviceOf = (name: string | undefined): VaultService | undefined =>
  name === undefined ? undefined : requireVaultService(name);

export function registerVersions(noun: Noun<Services>): void {
  vaultVerb(noun, 'history [service]', 'what the fields of a vault have held, newest first; never a value')
    .example('satchel vault history --project shop stripe')
    .remark(`Each change keeps the value before: the last 20 of a field, 5 of a file, for 180 days from when it was replaced or
removed.`)
    .lists(
      (session, options, name?: string) =>
        session.services.vault_versions.list(
          vaultOf(session, options),
          { service: serviceOf(name) },
          session.page,
        ),
      (one) =>
        rowOf(
          { ...one, by: one.by.name, now: one.is_current ? 'newest' : '' },
          'version service field kind now changed=changed_at by filename',
        ),
      'Nothing was ever stored.',
    );
  vaultVerb(noun, 'restore <service> <version>', 'store what a field held, as a new version')
    .example('satchel vault restore stripe 01J9ZK3F4M5N6P7Q8R9S0T1V2W --project shop')
    .does(async (session, options, name, version) => {
      const { services, actor } = session;
      const [at, service] = [vaultOf(session, options), requireVaultService(name)];
      const { field } = services.vault_versions.require(at, service, version);
      const restored = await services.vault_versions.restore(actor, at, service, version);
      return { json: restored, text: `Stored again: ${service.service}.${field}.` };
    });
  vaultVerb(
    noun,
    'purge [service]',
    'forget what the fields of a vault have held, but for what is stored now',
  )
    .example('satchel vault purge --project shop stripe --yes')
    .remark('Older backups still have it.')
    .removes(async (session, options, name?: string) => {
      const { services, actor, consent, project } = session;
      const [at, service] = [vaultOf(session, options), serviceOf(name)];
      const past = counted(services.vault_versions.count(at, { service }), 'version');
      const of = service ? `of ${service.service} of ${project.slug}` : `of the vault of ${project.slug}`;
      consent(`forgets ${past} ${of} (${at.environment}) for good`);
      const purged = await services.vault_versions.purge(actor, at, { service });
      return { json: purged, text: `Forgot ${counted(purged.deleted, 'version')}.` };
    });
}
