/** Sends a project's file from the disk as it is: by XMLHttpRequest, which tells how much has left and holds none of it. */
import type { ProjectFile } from '../../api.generated.ts';
import { ApiError, addressOf } from '../../api.ts';

/** `onProgress` gets the part that has left, from 0 to 1. Throws ApiError; where the connection breaks off, one of status 0. */
export function sendProjectFile(file: File, onProgress: (part: number) => void): Promise<ProjectFile> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', addressOf('POST /project-files'));
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.setRequestHeader('X-Satchel-Console', '1');
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 1);
    request.onload = () => {
      if (request.status === 201) resolve(request.response.data);
      else reject(new ApiError(request.status, request.response));
    };
    request.onerror = () => reject(new ApiError(0, { message: BROKEN_OFF }));
    request.send(file);
  });
}

const BROKEN_OFF = 'The connection broke off. Nothing of the file is kept: choose it again.';
