/** The numbers of the whole sequence: contacts by where they stand, mails by what became of them. */
import { Panel } from '../../components/page.tsx';
import { tellShare } from '../../components/quantity.tsx';
import { type TileProps, Tiles } from '../../components/tiles.tsx';
import { hrefOf, to } from '../../router.ts';
import type { SequencePartProps } from './detail.tsx';

export function Totals({ path, of: { stats, track_opens } }: SequencePartProps) {
  const enrollments = `${hrefOf(to`/projects/${path.project}/sequences/${path.sequence}`)}?tab=enrollments`;
  const mails = (label: string, value: number, whole = stats.sent): TileProps => ({
    label,
    value,
    note: tellShare(value, whole),
  });
  const ended = stats.sent + stats.lost;
  return (
    <Panel flush>
      <Tiles
        of={[
          { label: 'Enrolled', value: stats.enrolled, href: enrollments },
          { label: 'Under way', value: stats.active, href: `${enrollments}&state=active` },
          { label: 'Completed', value: stats.completed, href: `${enrollments}&state=completed` },
          { label: 'Left early', value: stats.exited, href: `${enrollments}&state=exited` },
          { label: 'Failed', value: stats.failed, href: `${enrollments}&state=failed` },
        ]}
      />
      <Tiles
        of={[
          {
            label: 'Mails sent',
            value: stats.sent,
            note: stats.waiting > 0 ? `${stats.waiting} waiting` : '',
          },
          mails('Lost', stats.lost, ended),
          mails('Clicked', stats.clicked, stats.sent - stats.untracked),
          ...(stats.replied > 0 ? [mails('Answered', stats.replied)] : []),
          track_opens || stats.opened > 0
            ? mails('Opened', stats.opened, stats.sent - stats.untracked)
            : { label: 'Opened', value: 0, note: 'not counted' },
          ...(stats.opened_by_machine > 0 ? [mails('Opened by machines', stats.opened_by_machine)] : []),
          mails('Bounced', stats.bounced, ended),
          mails('Complaints', stats.complained),
          mails('Unsubscribed', stats.unsubscribed),
        ]}
      />
    </Panel>
  );
}
