// Which names a view can have: the name is a part of its address.

export const viewName = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** The message for any other name. */
export const wrongViewName =
  'is not a name for a view: use up to 64 lower-case letters, digits and hyphens, without a hyphen at the start';
