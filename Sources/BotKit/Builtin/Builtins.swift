import EventLoop

/// The commands that every bot has: one line each.
public enum Builtins {
  /// What the waiting ones need of the daemon.
  public struct Services: Sendable {
    /// Searches the archive and calls back on the loop.
    public var search: SearchService
    /// Reads the configuration again and calls back with its faults, none when it is in force.
    public var reload: @Sendable @LoopActor (@escaping @LoopActor (ReloadOutcome) -> Void) -> Void
    public var rooms: RoomService

    public init(
      search: @escaping SearchService,
      reload: @escaping @Sendable @LoopActor (@escaping @LoopActor (ReloadOutcome) -> Void) -> Void,
      rooms: RoomService = RoomService()
    ) {
      self.search = search
      self.reload = reload
      self.rooms = rooms
    }
  }

  /// Made anew when the groups change, since `search` looks at them when it runs.
  public static func all(_ services: Services, access: AccessPolicy) -> [Command] {
    [
      Command(Help()),
      Command(Ping()),
      Command(Status()),
      Command(Whoami()),
      Command(Roster()),
      Command(
        Search.description, Search(service: services.search, access: access, rooms: services.rooms.present),
        origin: "built in"),
      Command(Reload.description, Reload(service: services.reload), origin: "built in"),
      Command(JoinRoom.description, JoinRoom(service: services.rooms), origin: "built in"),
      Command(LeaveRoom.description, LeaveRoom(service: services.rooms), origin: "built in"),
      Command(Say.description, Say(service: services.rooms), origin: "built in"),
      Command(ListRooms.description, ListRooms(service: services.rooms), origin: "built in"),
    ]
  }
}
