/** Choosing files, who may open them and for how long; then how far each has come. What is refused can be tried again. */

import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { ApiError, type Progress, uploadFile } from '../../api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { choice, Fields, optional } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Bytes, counted } from '../../components/quantity.tsx';
import { toast } from '../../components/toast.tsx';
import { VISIBILITIES } from './file-form.tsx';

const FIELDS = {
  visibility: choice('Visibility', VISIBILITIES),
  // As it is sent: in a form.
  expires_in_days: optional('Days to keep', {
    type: 'number',
    hint: 'Then it is deleted. Empty: kept until somebody deletes it.',
  }),
};

interface Upload {
  file: File;
  /** From 0 to 1; null before its turn. */
  part: number | null;
  /** The API's message about it. */
  refusal: string | null;
}

const waiting = (file: File): Upload => ({ file, part: null, refusal: null });

export function UploadDialog(props: {
  project: string;
  chosen: readonly File[];
  onClose(): void;
  onStored(): void;
}) {
  const { project, chosen, onClose, onStored } = props;
  const [uploads, setUploads] = useState<readonly Upload[]>(chosen.map(waiting));
  // Whoever closes the dialog wants no more of it.
  const closing = useRef(new AbortController());
  useEffect(() => () => closing.current.abort(), []);
  const { signal } = closing.current;
  const change = (file: File, changes: Partial<Upload>): void =>
    setUploads((all) => all.map((each) => (each.file === file ? { ...each, ...changes } : each)));
  const store = async (entered: Entered): Promise<void> => {
    const wishes = entered.given(FIELDS);
    let refused = 0;
    for (const { file } of uploads) {
      if (signal.aborted) return;
      change(file, { part: 0, refusal: null });
      try {
        const onProgress = ({ loaded, total }: Progress): void =>
          change(file, { part: total ? loaded / total : 0 });
        await uploadFile(project, file, { ...wishes, onProgress, signal });
        setUploads((all) => all.filter((each) => each.file !== file));
        onStored();
      } catch (error) {
        // A wrong field is wrong for all files.
        if (error instanceof ApiError && error.errors.expires_in_days) {
          change(file, { part: null });
          throw error;
        }
        refused += 1;
        change(file, { part: null, refusal: tell(error) });
      }
    }
    const stored = uploads.length - refused;
    if (stored > 0) toast(`${counted(stored, 'file')} stored`);
    if (refused === 0) onClose();
  };
  return (
    <Dialog title="Upload files" onClose={onClose}>
      <Form
        submit={uploads.length > 1 ? `Upload ${uploads.length} files` : 'Upload'}
        onSubmit={store}
        onCancel={onClose}
        is_disabled={uploads.length === 0}
      >
        <Chooser onChoose={(files) => setUploads((all) => [...all, ...files.map(waiting)])} />
        {uploads.length > 0 && (
          <ul class="uploads" aria-label="Chosen files">
            {uploads.map((upload, index) => (
              <UploadLine
                // Two of the same name may be chosen.
                key={`${index}${upload.file.name}`}
                of={upload}
                onRemove={() => setUploads((all) => all.filter((each) => each !== upload))}
              />
            ))}
          </ul>
        )}
        <Fields fields={FIELDS} />
      </Form>
    </Dialog>
  );
}

function Chooser({ onChoose }: { onChoose(files: readonly File[]): void }) {
  const id = useId();
  return (
    <div class="drop-zone">
      <input
        type="file"
        id={id}
        multiple
        onChange={(event) => {
          onChoose([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
      <label for={id}>
        <Icon name="files" size={20} />
        <span>Choose files</span>
        <span class="muted">or drop them here</span>
      </label>
    </div>
  );
}

function UploadLine({ of, onRemove }: { of: Upload; onRemove(): void }) {
  const { file, part, refusal } = of;
  return (
    <li>
      <div class="upload">
        <span class="upload-name">{file.name}</span>
        <span class="muted">
          <Bytes of={file.size} />
        </span>
        {part === null && (
          <button
            type="button"
            class="button quiet square"
            aria-label={`Leave out ${file.name}`}
            onClick={onRemove}
          >
            <Icon name="close" />
          </button>
        )}
      </div>
      {part !== null && <progress value={part} max={1} aria-label={`Upload of ${file.name}`} />}
      {refusal && (
        <p class="wrong" role="alert">
          {refusal}
        </p>
      )}
    </li>
  );
}

function tell(error: unknown): string {
  if (!(error instanceof ApiError)) return String(error);
  return Object.values(error.errors).flat().join(' ') || error.message;
}
