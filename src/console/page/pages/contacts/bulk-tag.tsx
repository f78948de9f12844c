/** Tagging many contacts: those that were picked, else all that the filters match. */
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { mayWrite } from '../../capabilities.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Fields, lines } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { counted, countedTo } from '../../components/quantity.tsx';
import { toast } from '../../components/toast.tsx';
import { useQuery } from '../../router.ts';
import type { PageMeta } from '../../use-load.ts';
import { filterIn } from './filter.ts';

const TAGS = { add: lines('Tags to add'), remove: lines('Tags to take away') };

export function BulkTag(props: {
  path: { project: string; list: string };
  /** Ids. */
  picked: string[];
  /** Of those that the filters match. */
  meta: Pick<PageMeta, 'total' | 'total_capped'>;
  /** In place of the filters, or empty. */
  segment: string;
  onChange(): void;
}) {
  const { path, picked, meta, segment, onChange } = props;
  const [is_open, setOpen] = useState(false);
  const filter = filterIn(useQuery());
  const who =
    picked.length > 0 ? counted(picked.length, 'picked contact') : `all ${countedTo(meta, 'contact')} below`;
  const change = async (entered: Entered): Promise<void> => {
    const { changed } = await call('POST /projects/{project}/email-lists/{list}/contacts/bulk-tag', {
      path,
      body: {
        ...(picked.length > 0 ? { contact_ids: picked } : segment === '' ? { filter } : { segment }),
        ...entered.read(TAGS),
      },
    });
    toast(`${counted(changed, 'contact')} changed`);
    setOpen(false);
    onChange();
  };
  if (!mayWrite()) return null;
  return (
    <>
      <button type="button" class="button" onClick={() => setOpen(true)}>
        {picked.length > 0 ? `Tag ${picked.length} picked` : 'Tag all'}
      </button>
      {is_open && (
        <Dialog title={`Tag ${who}`} onClose={() => setOpen(false)}>
          {picked.length === 0 && (
            <p class="muted">
              {segment === ''
                ? 'On every page of the list, as the filters are now.'
                : 'On every page of the list, as the segment is now.'}
            </p>
          )}
          <Form submit={`Tag ${who}`} onSubmit={change} onCancel={() => setOpen(false)}>
            <Fields fields={TAGS} />
          </Form>
        </Dialog>
      )}
    </>
  );
}
