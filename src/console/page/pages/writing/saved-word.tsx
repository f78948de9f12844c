/** Whether what is written is saved: one word in the header, and why where it is not. */
import { Icon } from '../../components/icon.tsx';
import type { Standing } from './use-words.ts';

export function SavedWord({ of, is_live }: { of: Standing; is_live: boolean }) {
  if (of.is === 'failed')
    return (
      <span class="saved-word bad" role="alert">
        <Icon name="warning" size={14} />
        Not saved: {of.why.replace(/\.$/, '')}. It is kept here
        {of.is_passing ? ', and tried again by itself.' : ' until that is mended.'}
      </span>
    );
  if (of.is === 'outdated')
    return <span class="saved-word bad">Not saved: somebody else has changed it. It is kept here.</span>;
  return (
    <span class="saved-word muted">
      {of.is === 'saved' ? (
        <>
          <Icon name="check" size={14} />
          {is_live ? 'Draft saved' : 'Saved'}
        </>
      ) : (
        'Saving…'
      )}
    </span>
  );
}
