// The URIs of attachments. The id is hexadecimal, because hosts of URIs are not case-sensitive.

export const attachmentTemplate = 'attachment://{id}/{name}';
