/** Accounts at providers: those of AI that serve the project, the databases it may be linked to, and the accounts those are of. */
import type { ComponentChildren } from 'preact';
import { CAPABILITIES, type Capability, may } from '../../capabilities.ts';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import type { PageProps } from '../../pages.ts';
import { AiAccounts } from './ai-accounts.tsx';
import { DatabaseAccounts } from './database-accounts.tsx';
import { Databases } from './databases.tsx';

const TABS = { ai: 'AI accounts', databases: 'Databases', accounts: 'Database accounts' } as const;

export default function AccountsPage({ params }: PageProps<'project'>) {
  const tab = useTab(['ai', 'databases', 'accounts']);
  return (
    <>
      <PageHeader
        title="Provider accounts"
        lead="Accounts at AI and database providers with their keys: stored once, and given to the projects they serve."
      />
      <Tabs tabs={TABS} now={tab} />
      {tab === 'ai' && (
        <Needing capability="can_read_ai_accounts">
          <AiAccounts project={params.project} />
        </Needing>
      )}
      {tab === 'databases' && (
        <Needing capability="can_manage_database">
          <Databases project={params.project} />
        </Needing>
      )}
      {tab === 'accounts' && (
        <Needing capability="can_manage_database">
          <DatabaseAccounts project={params.project} />
        </Needing>
      )}
    </>
  );
}

/** In place of what the API would refuse, what it takes. */
function Needing({ capability, children }: { capability: Capability; children: ComponentChildren }) {
  if (may(capability)) return <>{children}</>;
  return (
    <div class="panel">
      <Empty title="You may not look into these">
        <p>
          Somebody who may administer can give you the capability {capability}:{' '}
          {CAPABILITIES[capability][0].toLowerCase()}.
        </p>
      </Empty>
    </div>
  );
}
