// Server

// Client

export {}
