/** One job, whatever its project; looked at again until it is done. */

import { useState } from 'preact/hooks';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Status } from '../../components/status.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { JobPanel } from './job-panel.tsx';

const REFRESH_MS = 2000;

export default function JobPage({ params }: PageProps<'job'>) {
  const [is_over, setOver] = useState(false);
  const load = useLoad('GET /jobs/{job}', { path: params }, { every_ms: is_over ? null : REFRESH_MS });
  const job = load.data;
  const is_done = load.error !== null || job?.status === 'completed' || job?.status === 'failed';
  if (is_done !== is_over) setOver(is_done);
  return (
    <>
      <PageHeader
        title={job?.type ?? 'Job'}
        back={{ href: hrefOf('/jobs'), label: 'Jobs' }}
        beside={job && <Status of={job.status} />}
        lead={<code>{params.job}</code>}
      />
      <Loaded load={load}>
        {(of) => (
          <div class="stack">
            <JobPanel of={of} />
          </div>
        )}
      </Loaded>
    </>
  );
}
