/** Why a broadcast is paused, and what is to be done about it. */
import type { ComponentChildren } from 'preact';
import { Loaded } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import type { BroadcastPartProps } from './part.tsx';
import { Problems } from './problems.tsx';

export function Paused(props: BroadcastPartProps) {
  const { path, of } = props;
  const by_itself = !['manual', 'moved', 'restored'].includes(of.pause_reason ?? 'manual');
  return (
    <div class={`notice ${by_itself ? 'bad' : 'warn'}`}>
      {tell(props)}
      {of.pause_reason === 'not_ready' && <Missing path={path} of={of} />}
    </div>
  );
}

function tell({ path, of }: BroadcastPartProps): ComponentChildren {
  switch (of.pause_reason) {
    case 'late':
      return (
        <p>
          <strong>It paused by itself: its time was more than a day ago.</strong> Satchel did not run, or the
          project was inactive, at <Time at={of.send_at} exact />. If the news is still news, resume it; else
          cancel it.
        </p>
      );
    case 'moved':
      return (
        <p>
          <strong>Paused, as its project moved to another Satchel or came from one.</strong> Once the project
          is active here, resume it: what has a time goes out then.
        </p>
      );
    case 'restored':
      return (
        <p>
          <strong>Paused by a restore: it may have gone out since the backup was made.</strong> Resume it to
          have it go on, or cancel it. Home lets go all that the restore holds, or drops what was due before
          it.
        </p>
      );
    case 'not_ready':
      return (
        <p>
          <strong>It paused by itself: something was missing when its time came.</strong> Once that is mended,
          resume it.
        </p>
      );
    case 'relay_refuses':
      return (
        <p>
          <strong>It paused by itself: mail servers refuse what comes from your mailbox.</strong> Its people
          are not at fault, and nobody of them was suppressed for it. <LastWords of={of} /> Have it mended (a
          blocklist, a log-in, a record in the DNS), then resume.
        </p>
      );
    case 'bounce_threshold':
      return (
        <p>
          <strong>It paused by itself: too many of its mails came back.</strong> Going on with such a list
          costs the domain its name with the large providers. Look at{' '}
          <a href={`${hrefOf(to`/projects/${path.project}/lists/${of.list}`)}?status=bounced`}>
            the contacts that bounced
          </a>{' '}
          and at where the list comes from. The{' '}
          <a href={hrefOf(to`/projects/${path.project}/marketing`)}>marketing settings</a> have the share of
          bounces at which this happens. Resuming begins to count anew.
        </p>
      );
    default:
      return (
        <p>
          <strong>Paused by hand.</strong> Nothing more is sent until it is resumed.
        </p>
      );
  }
}

function Missing({ path, of }: Pick<BroadcastPartProps, 'path' | 'of'>) {
  const check = useLoad('GET /projects/{project}/email-broadcasts/{broadcast}/check', { path });
  return (
    <Loaded load={check}>
      {({ problems }) =>
        problems.length > 0 ? (
          <Problems path={path} of={of} problems={problems} />
        ) : (
          <p>Nothing is missing any more.</p>
        )
      }
    </Loaded>
  );
}

/** The last words of a mail server that refuses the mail of a sequence or broadcast. */
export function LastWords({ of }: { of: { pause_words: string | null } }) {
  if (of.pause_words === null) return <>Read what the servers say in the mails that failed.</>;
  return (
    <>
      The last one said: <q class="said">{of.pause_words}</q>
    </>
  );
}
