/** One service of a project's vault: what is stored, changing it, and removing all of it. */
import type { VaultMetadata, VaultService } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { may } from '../../capabilities.ts';
import { ConfirmByName } from '../../components/confirm-by-name.tsx';
import { Empty, Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import {
  EnvironmentSwitch,
  type InEnvironment,
  keeping,
  useEnvironment,
  useEnvironments,
} from './environments.tsx';
import { SetValues } from './set-values.tsx';
import { Values } from './values.tsx';
import { Variables } from './variables.tsx';

const TABS = { values: 'Values', set: 'Set values' } as const;

/** The props of each part. Without `metadata` whoever looks may not see what is stored. */
export interface ServicePartProps {
  path: { project: string; service: string };
  query: InEnvironment;
  service: VaultService;
  metadata: VaultMetadata | null;
  /** The version of it. */
  etag: string | null;
  onChange(): void;
}

export default function VaultServicePage({ params }: PageProps<'project' | 'service'>) {
  const path = { project: params.project, service: params.service };
  const query = useEnvironment();
  const all = useEnvironments(params.project);
  const registry = useLoad('GET /vault/services', {});
  const load = useLoad(
    'GET /projects/{project}/vault/{service}',
    may('can_read_vault') ? { path, query } : null,
  );
  const service = registry.data?.find((each) => each.service === params.service);
  return (
    <>
      <PageHeader
        title={service?.label ?? 'Vault'}
        back={{ href: hrefOf(keeping(to`/projects/${params.project}/vault`, query)), label: 'Vault' }}
        lead={<code>{params.service}</code>}
        actions={<EnvironmentSwitch all={all} now={query} />}
      />
      <Loaded load={registry}>
        {() =>
          service === undefined ? (
            <Empty title="There is no vault service of this name" />
          ) : may('can_read_vault') ? (
            <Loaded load={load}>
              {(metadata) => (
                <Parts
                  path={path}
                  query={query}
                  service={service}
                  metadata={metadata}
                  etag={load.etag}
                  onChange={load.reload}
                />
              )}
            </Loaded>
          ) : (
            <Parts
              path={path}
              query={query}
              service={service}
              metadata={null}
              etag={null}
              onChange={load.reload}
            />
          )
        }
      </Loaded>
    </>
  );
}

function Parts(part: ServicePartProps) {
  const tab = useTab(['values', 'set']);
  if (part.service.free_form) {
    return (
      <div class="stack">
        <Variables {...part} />
        <RemoveAll {...part} />
      </div>
    );
  }
  return (
    <>
      {may('can_write_vault') && <Tabs tabs={TABS} now={tab} keep={part.query} />}
      <div class="stack">
        {tab === 'set' && may('can_write_vault') ? <SetValues {...part} /> : <Values {...part} />}
        {tab === 'values' && <RemoveAll {...part} />}
      </div>
    </>
  );
}

function RemoveAll({ path, query, service, metadata }: ServicePartProps) {
  const present = Object.values(metadata?.present ?? {}).filter(Boolean).length;
  const stored = present - (metadata?.inherited.length ?? 0);
  if (!may('can_write_vault') || (metadata && stored === 0)) return null;
  const remove = async (): Promise<void> => {
    const { cascade } = await call('DELETE /projects/{project}/vault/{service}', { path, query });
    const gone = cascade.vault_credentials + cascade.vault_files;
    toast(`${service.label}: ${counted(gone, 'value')} removed`);
    navigate(keeping(to`/projects/${path.project}/vault`, query), { replace: true });
  };
  return (
    <Panel
      title="Remove everything of it"
      tone="danger"
      lead="Its history keeps the values for 180 days. At the provider it stays what it is."
    >
      <ConfirmByName title={`Remove ${service.label}`} name={service.service} act={remove}>
        <p>
          {metadata
            ? `With it ${stored === 1 ? 'goes' : 'go'} ${counted(stored, 'stored value')}. `
            : 'All that is stored of it goes. '}
          Apps have it until they are started anew.
        </p>
      </ConfirmByName>
    </Panel>
  );
}
