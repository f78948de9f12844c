/** Uploading one file: by XMLHttpRequest, as only that tells how far it has come. */
import { ApiError, addressOf, onRefusal } from '../../api.ts';

export interface UploadWishes {
  visibility: string;
  /** Empty: for ever. */
  expires_in_days: string;
}

/** Stores a file. `onProgress` is told how much of it has left, from 0 to 1; `signal` breaks it off. Throws ApiError. */
export function uploadFile(
  project: string,
  file: File,
  wishes: UploadWishes,
  on: { onProgress: (part: number) => void; signal: AbortSignal },
): Promise<void> {
  const form = new FormData();
  // Fields stand before the file: they are judged before its bytes are read.
  form.set('visibility', wishes.visibility);
  if (wishes.expires_in_days !== '') form.set('expires_in_days', wishes.expires_in_days);
  form.set('file', file, file.name);
  return new Promise<void>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', addressOf('POST /projects/{project}/objects', { path: { project } }));
    request.setRequestHeader('Accept', 'application/json');
    request.setRequestHeader('X-Satchel-Console', '1');
    request.responseType = 'json';
    request.upload.onprogress = (event) => on.onProgress(event.total > 0 ? event.loaded / event.total : 0);
    const fail = (): void =>
      reject(new ApiError(0, { message: 'The connection broke off. Nothing of the file is stored.' }, null));
    request.onerror = fail;
    request.onabort = fail;
    on.signal.addEventListener('abort', () => request.abort());
    request.onload = () => {
      if (request.status === 201) return resolve();
      reject(new ApiError(request.status, request.response, request.getResponseHeader('x-request-id')));
    };
    request.send(form);
  }).catch(async (error: unknown) => {
    const is_over = error instanceof ApiError && error.status === 401;
    if (is_over && (await onRefusal.signedOut())) return uploadFile(project, file, wishes, on);
    throw error;
  });
}
