/** One sending domain: its DNS records, the key that it signs with, and its settings and end. */
import { useState } from 'preact/hooks';
import type { SendingDomainCheck, SendingDomainDetails } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import { Tiles } from '../../components/tiles.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { DomainSettings } from './domain-settings.tsx';
import { DomainState } from './domain-state.tsx';
import { Records } from './records.tsx';

const TABS = {
  records: 'DNS records',
  reports: 'Reports',
  settings: 'Settings',
} as const;

export default function SendingDomainPage({ params }: PageProps<'name'>) {
  const load = useLoad('GET /sending-domains/{name}', { path: params }, { looks_again: true });
  const [check, setCheck] = useState<SendingDomainCheck | null>(null);
  const tab = useTab(['records', 'reports', 'settings']);
  const domain = load.data;
  const verify = async (): Promise<void> => {
    const checked = await call('POST /sending-domains/{name}/verify', { path: params });
    setCheck(checked);
    load.reload();
    if (tab === 'settings' && checked.dkim_rotation?.state === 'waiting')
      toast('The new record is not seen yet: mail is signed with the old key', 'bad');
  };
  return (
    <>
      <PageHeader
        title={domain?.name ?? params.name}
        back={{ href: hrefOf('/sending-domains'), label: 'Sending domains' }}
        beside={domain && <DomainState of={domain} />}
        lead={
          domain && (
            <>
              {domain.verified_at ? (
                <>
                  Verified <Time at={domain.verified_at} />.
                </>
              ) : (
                'Publish the records, then look them up.'
              )}{' '}
              <a href={hrefOf('/mailboxes')}>
                {domain.mailboxes === 1 ? '1 mailbox' : `${domain.mailboxes} mailboxes`}
              </a>
            </>
          )
        }
        actions={
          <ActionButton kind="primary" act={verify}>
            Look the records up
          </ActionButton>
        }
      />
      <Tabs tabs={TABS} now={tab} />
      <Loaded load={load}>
        {(of) => (
          <div class="stack">
            {tab === 'records' && <Records of={of} check={check} />}
            {tab === 'reports' && <Reports name={of.name} />}
            {tab === 'settings' && (
              <DomainSettings of={of} etag={load.etag} onChange={load.reload} verify={verify} />
            )}
          </div>
        )}
      </Loaded>
    </>
  );
}

/** The props of each part of a domain's page. */
export interface DomainPartProps {
  of: SendingDomainDetails;
  /** The version that is shown. */
  etag: string | null;
  onChange(): void;
}

/** Senders in the name of a domain, as receivers report them, with what is to be done about each. */
export function Reports({ name }: { name: string }) {
  const load = useLoad('GET /sending-domains/{name}/reports', { path: { name } });
  return (
    <Panel
      title="Who sends in its name"
      lead="What receivers reported in the last 30 days (DMARC). Anybody can write such a report: nothing acts on one."
    >
      <Loaded load={load}>
        {({ organizations, total, aligned, policy, sources, tls }) =>
          organizations.length === 0 ? (
            <p class="muted">
              Nobody reported yet. Reports come to the address in rua= of its DMARC record, where a mailbox of
              it has an inbox.
            </p>
          ) : (
            <div class="stack">
              <Tiles
                of={[
                  { label: 'Mails', value: total, note: `by ${organizations.length} reporting` },
                  { label: 'Not aligned', value: total - aligned, note: policy ? `policy: ${policy}` : '' },
                  { label: 'TLS sessions failed', value: tls.failed, note: `of ${tls.sessions}` },
                ]}
              />
              <ul class="told">
                {sources.map(({ ip, count, words }) => (
                  <li key={ip}>
                    <code>{ip}</code>, {count === 1 ? '1 mail' : `${count} mails`}: {words}
                  </li>
                ))}
              </ul>
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}
